//! The functions every expression can call.

#![expect(clippy::unnecessary_wraps, reason = "all of them have the type of the table")]

mod aggregate;
mod array;
mod control;
mod datetime;
mod encoding;
mod higher;
mod number;
mod object;
mod search;
mod string;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

pub(crate) use number::round_to;

use crate::error::Outcome;
use crate::eval::Evaluator;
use crate::frame::Scope;
use crate::function::Arguments;
use crate::item::Item;
use crate::signature::{Occurs, Signature};

/// One built-in function.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    signature: Signature,
    /// How many arguments functions such as `$map` pass to it.
    pub(crate) arity: usize,
    pub(crate) call: Call,
}

/// What a built-in does with arguments that fit its signature, in a context and a scope.
pub(crate) type Call =
    fn(&mut Evaluator<'_>, Arguments, Option<&Item>, &Scope) -> Outcome<Option<Item>>;

impl Builtin {
    pub(crate) fn signature(&self) -> &Signature {
        &self.signature
    }
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}{}", self.name, self.signature)
    }
}

/// Name, signature, arity and code of every built-in.
const TABLE: &[(&str, &str, usize, Call)] = &[
    ("sum", "<a<n>:n>", 1, aggregate::sum),
    ("count", "<a:n>", 1, aggregate::count),
    ("max", "<a<n>:n>", 1, aggregate::max),
    ("min", "<a<n>:n>", 1, aggregate::min),
    ("average", "<a<n>:n>", 1, aggregate::average),
    ("string", "<x-b?:s>", 1, string::string),
    ("substring", "<s-nn?:s>", 3, string::substring),
    ("substringBefore", "<s-s:s>", 2, string::substring_before),
    ("substringAfter", "<s-s:s>", 2, string::substring_after),
    ("lowercase", "<s-:s>", 1, string::lowercase),
    ("uppercase", "<s-:s>", 1, string::uppercase),
    ("length", "<s-:n>", 1, string::length),
    ("trim", "<s-:s>", 1, string::trim),
    ("pad", "<s-ns?:s>", 3, string::pad),
    ("match", "<s-f<s:o>n?:a<o>>", 3, search::match_all),
    ("contains", "<s-(sf):b>", 2, search::contains),
    ("replace", "<s-(sf)(sf)n?:s>", 4, search::replace),
    ("split", "<s-(sf)n?:a<s>>", 3, search::split),
    ("join", "<a<s>s?:s>", 2, string::join),
    ("formatNumber", "<n-so?:s>", 3, number::format_number),
    ("formatBase", "<n-n?:s>", 2, number::format_base),
    ("formatInteger", "<n-s:s>", 2, number::format_integer),
    ("parseInteger", "<s-s:n>", 2, number::parse_integer),
    ("number", "<(nsb)-:n>", 1, number::number),
    ("floor", "<n-:n>", 1, number::floor),
    ("ceil", "<n-:n>", 1, number::ceil),
    ("round", "<n-n?:n>", 2, number::round),
    ("abs", "<n-:n>", 1, number::abs),
    ("sqrt", "<n-:n>", 1, number::sqrt),
    ("power", "<n-n:n>", 2, number::power),
    ("random", "<:n>", 0, number::random),
    ("boolean", "<x-:b>", 1, control::boolean),
    ("not", "<x-:b>", 1, control::not),
    ("map", "<af>", 2, higher::map),
    ("zip", "<a+>", 0, array::zip),
    ("filter", "<af>", 2, higher::filter),
    ("single", "<af?>", 2, higher::single),
    ("reduce", "<afj?:j>", 3, higher::reduce),
    ("sift", "<o-f?:o>", 2, higher::sift),
    ("keys", "<x-:a<s>>", 1, object::keys),
    ("lookup", "<x-s:x>", 2, object::lookup),
    ("append", "<xx:a>", 2, array::append),
    ("exists", "<x:b>", 1, control::exists),
    ("spread", "<x-:a<o>>", 1, object::spread),
    ("merge", "<a<o>:o>", 1, object::merge),
    ("reverse", "<a:a>", 1, array::reverse),
    ("each", "<o-f:a>", 2, higher::each),
    ("error", "<s?:x>", 1, control::error),
    ("assert", "<bs?:x>", 2, control::assert),
    ("type", "<x:s>", 1, control::type_name),
    ("sort", "<af?:a>", 2, higher::sort),
    ("shuffle", "<a:a>", 1, array::shuffle),
    ("distinct", "<x:x>", 1, array::distinct),
    ("base64encode", "<s-:s>", 1, encoding::base64_encode),
    ("base64decode", "<s-:s>", 1, encoding::base64_decode),
    ("encodeUrlComponent", "<s-:s>", 1, encoding::encode_url_component),
    ("encodeUrl", "<s-:s>", 1, encoding::encode_url),
    ("decodeUrlComponent", "<s-:s>", 1, encoding::decode_url_component),
    ("decodeUrl", "<s-:s>", 1, encoding::decode_url),
    ("eval", "<sx?:x>", 2, control::eval),
    ("toMillis", "<s-s?:n>", 2, datetime::to_millis),
    ("fromMillis", "<n-s?s?:s>", 3, datetime::from_millis),
    ("clone", "<(oa)-:o>", 1, object::clone),
    ("now", "<s?s?:s>", 2, datetime::now),
    ("millis", "<:n>", 0, datetime::millis),
];

/// The names of the functions that every expression can call, without `$`.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, ..)| *name)
}

/// The built-in called `name`.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    static BUILTINS: LazyLock<HashMap<&'static str, Builtin, RandomState>> = LazyLock::new(|| {
        TABLE
            .iter()
            .map(|&(name, signature, arity, call)| {
                (name, Builtin { name, signature: Signature::fixed(signature), arity, call })
            })
            .collect()
    });
    BUILTINS.get(name)
}

/// Whether a call of the built-in `name` with `given` arguments reads the context in which it
/// stands.
pub(crate) fn reads_context(name: &str, given: usize) -> bool {
    if name == "eval" {
        return true;
    }
    find(name).is_some_and(|builtin| {
        let parameters = &builtin.signature.parameters;
        let needed = parameters.iter().filter(|parameter| {
            // A function is always meant to be given, even where it may be left out.
            parameter.from_context
                || parameter.occurs == Occurs::Once
                || parameter.letters.contains('f') && name == "sift"
        });
        parameters.iter().any(|parameter| parameter.from_context) && given < needed.count()
    })
}

/// The arguments one by one; those that were not given are `None`.
fn take<const N: usize>(arguments: Arguments) -> [Option<Item>; N] {
    let mut arguments = arguments.into_iter();
    std::array::from_fn(|_| arguments.next().flatten())
}
