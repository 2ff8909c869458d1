//! Code that is not needed any more.
//!
//! What a start runs through stays mapped although a server never runs it again: the reader of files,
//! the checks, the making of tables. All of it is in the program's file, so the system may take it
//! away at any time; whatever is needed after all comes back by itself, for a microsecond each.

/// Lets go of all code and constants of this process, its libraries' too. Whatever is used from now on
/// is mapped again when it is.
///
/// What a program's file says cannot have changed in memory, unless somebody else changed it there:
/// breakpoints that a debugger has set, or hooks of a tool that watches functions, are lost.
///
/// By its name `cargo xtask start-order` knows where a start ends.
#[inline(never)]
pub fn let_go_of_code() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    mapped::let_go();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod mapped {
    use std::ptr;

    use libc::{PF_W, PT_LOAD, c_int, c_void, dl_phdr_info, size_t};

    /// Goes through the program and its libraries.
    pub(super) fn let_go() {
        // SAFETY: the function is called for each while it stays loaded, and takes no data.
        unsafe { libc::dl_iterate_phdr(Some(let_go_of), ptr::null_mut()) };
    }

    /// Lets go of those parts of a program or library that nobody may write to.
    unsafe extern "C" fn let_go_of(
        loaded: *mut dl_phdr_info,
        _size: size_t,
        _data: *mut c_void,
    ) -> c_int {
        // SAFETY: it is valid while this function runs.
        let loaded = unsafe { &*loaded };
        // SAFETY: this is what its fields are for.
        let parts =
            unsafe { std::slice::from_raw_parts(loaded.dlpi_phdr, usize::from(loaded.dlpi_phnum)) };
        let page = page_size();
        for part in parts.iter().filter(|part| part.p_type == PT_LOAD && part.p_flags & PF_W == 0) {
            let begin = usize::try_from(loaded.dlpi_addr.wrapping_add(part.p_vaddr));
            let (Ok(begin), Ok(size)) = (begin, usize::try_from(part.p_memsz)) else { continue };
            // Only pages that are wholly its own.
            let (first, last) = (begin.next_multiple_of(page), (begin + size) / page * page);
            if first < last {
                // SAFETY: the pages are of a file, and have never been written to: what is read from
                // them next is what was read before. That it may be refused, where pages are locked
                // for instance, changes nothing.
                unsafe { libc::madvise(first as *mut c_void, last - first, libc::MADV_DONTNEED) };
            }
        }
        0
    }

    fn page_size() -> usize {
        // SAFETY: it asks for a number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        usize::try_from(size).ok().filter(|size| size.is_power_of_two()).unwrap_or(64 * 1024)
    }
}
