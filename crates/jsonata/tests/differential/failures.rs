//! Everything that fails, in every place it can fail in.

/// Fail when they are evaluated.
const FAILING: [&str; 20] = [
    "'a' + 1",
    "1 - 'é'",
    "-'x'",
    "'a' < 1",
    "true >= 2",
    "[1..'a']",
    "$uppercase(5)",
    "$sum(['a'])",
    "5 ~> $length()",
    "5 ~> $length",
    "$number('z')",
    "$error('no')",
    "nothing(1)",
    "uppercase('a')",
    "uppercase(?)",
    "$nothing(?)",
    "{1: 2}",
    "[1, 'a']^($)",
    "1 ~> 2",
    "$formatNumber(1, '#;#;#')",
];

/// Fail when they are parsed.
const MALFORMED: [&str; 34] = [
    "'é",
    "'a\\",
    "'\\q'",
    "'\\u12x4'",
    "'\\u12",
    "1e999",
    "`a",
    "/* é",
    "//",
    "/a",
    "a b",
    "a 1",
    "a 'é'",
    "1 .. 2",
    "[1 2]",
    "[1, 2",
    "{'a' 3}",
    "{'a': 3",
    "(1; 2",
    "a ! b",
    "a ~ b",
    "a +",
    "* *",
    "]",
    "function(a){1}",
    "function(1, 'b', $c, d.e){1}",
    "function($x)<s<n>>{$x}",
    "function($x)<n (a<s>b) >{$x}",
    "'é' := 1",
    "a.b := 1",
    "a.1",
    "a.true.null",
    "a@b",
    "%",
];

/// Malformed only together with what stands before.
const MISPLACED: [&str; 12] = [
    "a{b: c}[d]",
    "a{b: c}{d: e}",
    "a[0]@$b",
    "a^(b)@$c",
    "a#1",
    "$.%",
    "(1).%",
    "a.(%.%.%)",
    "a[%.%.%]",
    "[%]",
    "{'a': %}",
    "é.1",
];

/// What stands around something that fails, written as `_`.
const PLACES: [&str; 38] = [
    "_",
    "(_)",
    "(1; _; 2)",
    "'é' & _",
    "true and (_)",
    "false or (_)",
    "(_) and true",
    "(_) ? 1 : 2",
    "true ? (_) : 2",
    "(_) ?: 1",
    "false ?: (_)",
    "nothing ?? (_)",
    "-(_)",
    "[_]",
    "{'a': _}",
    "[1, 2][_]",
    "[1, 2].(_)",
    "[1, 2]^(_)",
    "[{'a': 1}]{'b': _}",
    "{'a': 1} ~> |$|{'b': _}|",
    "$string(_)",
    "(_) ~> $string()",
    "(_) ~> $string",
    "$map([1], function($x){_})",
    "$map([1], function($x){(_; $x)})",
    "$map([1], function($x){$string(_)})",
    "$filter([1, 2], function($x){_})",
    "$reduce([1, 2], function($x, $y){_})",
    "$sort([1, 2], function($x, $y){_})",
    "$each({'a': 1}, function($x){_})",
    "function($x){_}(1)",
    "function($x){true ? (_) : 1}(1)",
    "($f := function($x){_}; $f(1))",
    "($f := function($x){(_; $x)}; $f(1))",
    "($f := function($x){(_; $x)}; $g := function($x){$f($x)}; $g(1))",
    "($f := function($x){(_; $x)}; $map([1], $f))",
    "1 ~> function($x){(_; $x)}",
    "($f := function($x, $y){(_; $x)}; $g := $f(?, 1); $g(2))",
];

/// Every failure in every place, two places deep.
pub(crate) fn failures() -> Vec<String> {
    let mut cases = Vec::new();
    let all = FAILING.iter().chain(&MALFORMED).chain(&MISPLACED);
    for (number, failing) in all.enumerate() {
        for (outer, place) in PLACES.iter().enumerate() {
            let once = place.replace('_', failing);
            // A third of the pairs is enough to meet every two places with some failure.
            for (inner, around) in PLACES.iter().enumerate() {
                if inner == 0 || (number + outer + inner) % 3 == 0 {
                    cases.push(around.replace('_', &once));
                }
            }
        }
    }
    cases
}

/// Built-ins that another function calls with what they do not take.
pub(crate) fn failing_calls_back() -> Vec<String> {
    let mut cases = Vec::new();
    for function in
        ["$uppercase", "$sum", "$length", "$number", "$error", "/a/", "$substring(?, 0)"]
    {
        for call in ["$map", "$filter", "$each", "$sift", "$single", "$sort", "$reduce"] {
            for data in ["[{}, {}]", "['a', 'b']", "{'a': {}}"] {
                cases.push(format!("{call}({data}, {function})"));
                cases.push(format!("({call}({data}, {function}); 1)"));
                cases.push(format!("function(){{{call}({data}, {function})}}()"));
                cases.push(format!("{data} ~> {call}({function})"));
            }
        }
    }
    cases
}
