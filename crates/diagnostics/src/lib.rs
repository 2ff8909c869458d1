//! Problems with a code, a place and a hint, and how they are shown
