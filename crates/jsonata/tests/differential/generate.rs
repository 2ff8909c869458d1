//! Expressions to compare implementations with.

use fastrand::Rng;

/// Inputs of the kind that tools return, and some edges.
pub(crate) const DATA: [&str; 8] = [
    r#"{"entry":{"directory":"/tmp","deep":{"n":[1,2,[3,[4]]]}},"items":[{"name":"ant","price":3,"qty":2,"tags":["a","b"],"kind":"x"},{"name":"bee","price":1.5,"qty":0,"tags":[],"kind":"y"},{"name":"cat","price":3,"qty":7,"tags":["b"],"kind":"x","extra":null}],"text":"Hello, World! 12-34","n":42,"f":0.1,"neg":-7.5,"t":true,"z":null,"empty":[],"obj":{"b":1,"a":{"c":[{"d":1},{"d":2}]}},"dates":["2018-01-01T00:00:00Z","2020-02-29"],"one":[9]}"#,
    r#"[{"a":1,"b":{"c":[1,2]}},{"a":2,"b":[{"c":3},{"c":[4,5]}]},{"a":"x"},[1,[2,3]],null,7]"#,
    r#"{"content":[{"type":"text","text":"{\"k\": [1, 2]}"},{"type":"image","data":"aGk="}],"isError":false,"structuredContent":{"rows":[{"id":"r1","v":10,"w":[{"x":1},{"x":2}]},{"id":"r2","v":-3.25,"w":{"x":3}},{"id":"r3","w":[]}]}}"#,
    r#""just a string with é and 😀""#,
    "12.75",
    "[]",
    "{}",
    "null",
];

const NAMES: [&str; 22] = [
    "entry",
    "directory",
    "deep",
    "n",
    "items",
    "name",
    "price",
    "qty",
    "tags",
    "kind",
    "extra",
    "text",
    "f",
    "neg",
    "obj",
    "a",
    "b",
    "c",
    "d",
    "missing",
    "one",
    "empty",
];
const STRINGS: [&str; 12] =
    ["", "a", "b", "ant", "Hello", ", ", "é", "😀x", "12", "-3.5e2", "0x1f", "a.b-c d"];
const NUMBERS: [&str; 12] =
    ["0", "1", "2", "-1", "3", "1.5", "-2.5", "0.1", "100", "1e3", "12345.678", "-0.5"];

/// Calls with the right kinds of arguments: `s` string, `n` number, `a` array, `o` object,
/// `f` function of one, `g` function of two, `r` regular expression, `x` anything, `p` picture,
/// `i` picture of an integer, `t` picture of a time.
const CALLS: [(&str, &str); 62] = [
    ("sum", "a"),
    ("count", "a"),
    ("max", "a"),
    ("min", "a"),
    ("average", "a"),
    ("string", "x"),
    ("substring", "snn"),
    ("substring", "sn"),
    ("substringBefore", "ss"),
    ("substringAfter", "ss"),
    ("lowercase", "s"),
    ("uppercase", "s"),
    ("length", "s"),
    ("trim", "s"),
    ("pad", "sns"),
    ("match", "sr"),
    ("match", "srn"),
    ("contains", "ss"),
    ("contains", "sr"),
    ("replace", "sss"),
    ("replace", "srs"),
    ("replace", "srsn"),
    ("split", "ss"),
    ("split", "sr"),
    ("split", "ssn"),
    ("join", "a"),
    ("join", "as"),
    ("formatNumber", "np"),
    ("formatBase", "nn"),
    ("formatInteger", "ni"),
    ("parseInteger", "si"),
    ("number", "x"),
    ("floor", "n"),
    ("ceil", "n"),
    ("round", "n"),
    ("round", "nn"),
    ("abs", "n"),
    ("sqrt", "n"),
    ("power", "nn"),
    ("boolean", "x"),
    ("not", "x"),
    ("map", "af"),
    ("filter", "af"),
    ("single", "af"),
    ("reduce", "ag"),
    ("reduce", "agx"),
    ("sift", "of"),
    ("keys", "x"),
    ("lookup", "xs"),
    ("append", "xx"),
    ("exists", "x"),
    ("spread", "x"),
    ("merge", "a"),
    ("reverse", "a"),
    ("each", "og"),
    ("type", "x"),
    ("sort", "a"),
    ("distinct", "x"),
    ("zip", "aa"),
    ("fromMillis", "nt"),
    ("toMillis", "s"),
    ("eval", "s"),
];

const PICTURES: [&str; 8] =
    ["#,##0.00", "0", "00.0%", "#0.###", "0.0e0", "#,###;(#)", "##00,00", "0,0,00.#"];
const INTEGER_PICTURES: [&str; 8] = ["0", "001", "#,##0", "w", "Ww;o", "I", "a", "1;o"];
const TIME_PICTURES: [&str; 6] = [
    "[Y0001]-[M01]-[D01]",
    "[FNn], [D1o] [MNn] [Y]",
    "[H01]:[m01]:[s01].[f001] [Z]",
    "[h]:[m] [P] [z]",
    "[X]-[W01]-[F]",
    "[d] [w] [x]",
];
const REGEXES: [&str; 8] =
    ["/a/", "/[a-z]+/", "/(l+)(o)?/", "/\\d+/", "/\\s/", "/(?=o)/", "/[aeiou]/i", "/./"];

/// Makes expressions at random, but the same ones for the same seed.
pub(crate) struct Generator {
    random: Rng,
}

impl Generator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Rng::with_seed(seed) }
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.random.usize(..options.len())]
    }

    pub(crate) fn data(&mut self) -> usize {
        // The first three are the interesting ones.
        if self.random.u8(..10) < 8 {
            self.random.usize(..3)
        } else {
            self.random.usize(..DATA.len())
        }
    }

    pub(crate) fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let inner = depth - 1;
        match self.random.u8(..26) {
            0..4 => self.path(inner),
            4 => format!("{}[{}]", self.path(inner), self.expression(inner)),
            5 => {
                let op = self.pick(&["+", "-", "*", "/", "%"]);
                format!("({} {op} {})", self.expression(inner), self.expression(inner))
            }
            6 => {
                let op = self.pick(&["=", "!=", "<", "<=", ">", ">=", "in"]);
                format!("({} {op} {})", self.expression(inner), self.expression(inner))
            }
            7 => {
                let op = self.pick(&["and", "or", "&", "??", "?:"]);
                format!("({} {op} {})", self.expression(inner), self.expression(inner))
            }
            8 => format!(
                "({} ? {} : {})",
                self.expression(inner),
                self.expression(inner),
                self.expression(inner)
            ),
            9 => format!("[{}, {}]", self.expression(inner), self.expression(inner)),
            10 => format!("[{}..{}]", self.number(), self.number()),
            11 => {
                format!("{{\"k\": {}, \"l\": {}}}", self.expression(inner), self.expression(inner))
            }
            12 => format!("{}{{{}: {}}}", self.path(inner), self.key(), self.expression(inner)),
            13 => {
                let direction = self.pick(&["", "<", ">"]);
                format!("{}^({direction}{})", self.path(inner), self.key())
            }
            14 => format!("{}.({})", self.path(inner), self.expression(inner)),
            15 => format!("{} ~> $string", self.expression(inner)),
            16 => format!("( $v := {}; $v )", self.expression(inner)),
            17 => format!("-({})", self.expression(inner)),
            18 => format!("{}#$i.($i & name)", self.path(inner)),
            19 => format!("{}.%.{}", self.path(inner), self.key()),
            20 => format!("items@$e.{}", self.expression(inner)),
            21 => format!("{} ~> |{}|{{\"u\": {}}}|", self.path(inner), self.key(), self.key()),
            _ => self.call(inner),
        }
    }

    fn leaf(&mut self) -> String {
        match self.random.u8(..10) {
            0..5 => self.key(),
            5 => self.number(),
            6 => self.string(),
            7 => self.pick(&["true", "false", "null", "$", "$$", "*", "[]", "{}"]).to_owned(),
            8 => self.path(0),
            _ => format!("{}.{}", self.key(), self.key()),
        }
    }

    fn key(&mut self) -> String {
        self.pick(&NAMES).to_owned()
    }

    fn number(&mut self) -> String {
        self.pick(&NUMBERS).to_owned()
    }

    fn string(&mut self) -> String {
        format!("\"{}\"", self.pick(&STRINGS))
    }

    fn path(&mut self, depth: usize) -> String {
        let mut path = self
            .pick(&[
                "items",
                "obj",
                "entry",
                "$",
                "$$",
                "structuredContent.rows",
                "a",
                "b",
                "**",
                "content",
            ])
            .to_owned();
        for _ in 0..self.random.usize(..3) {
            let step = match self.random.u8(..10) {
                0 => "*".to_owned(),
                1 => format!("{}[{}]", self.key(), self.number()),
                2 => format!("{}[]", self.key()),
                3 if depth > 0 => format!("{}[{}]", self.key(), self.expression(depth - 1)),
                4 if depth > 0 => self.call(depth - 1),
                _ => self.key(),
            };
            path = format!("{path}.{step}");
        }
        path
    }

    pub(crate) fn call(&mut self, depth: usize) -> String {
        let (name, kinds) = CALLS[self.random.usize(..CALLS.len())];
        let arguments: Vec<String> = kinds.chars().map(|kind| self.argument(kind, depth)).collect();
        format!("${name}({})", arguments.join(", "))
    }

    fn argument(&mut self, kind: char, depth: usize) -> String {
        // Sometimes not what is expected.
        if self.random.u8(..12) == 0 && kind != 'r' {
            return self.expression(depth);
        }
        match kind {
            's' if self.random.bool() => self.string(),
            's' => {
                self.pick(&["text", "items[0].name", "entry.directory", "items.name"]).to_owned()
            }
            'n' if self.random.bool() => self.number(),
            'n' => self.pick(&["n", "f", "neg", "items[0].price", "1514764800123"]).to_owned(),
            'a' => match self.random.u8(..6) {
                0 => format!("[{}, {}, {}]", self.number(), self.number(), self.number()),
                1 => format!("[{}, {}]", self.string(), self.string()),
                2 => "items".to_owned(),
                3 => format!("items.{}", self.key()),
                4 => "[]".to_owned(),
                _ => self.expression(depth),
            },
            'o' => self.pick(&["obj", "items[0]", "{\"a\": 1, \"b\": 2}", "$", "{}"]).to_owned(),
            'f' => {
                let body = if depth > 0 { self.expression(depth - 1) } else { self.leaf() };
                match self.random.u8(..4) {
                    0 => self.pick(&["$string", "$uppercase", "$boolean", "$length"]).to_owned(),
                    1 => "function($x, $i){ $x & $i }".to_owned(),
                    2 => "function($x){ $x.price > 2 }".to_owned(),
                    _ => format!("function($x){{ {body} }}"),
                }
            }
            'g' => self
                .pick(&[
                    "function($p, $q){ $p + $q }",
                    "function($p, $q){ $p & $q }",
                    "$append",
                    "function($p, $q, $i){ [$p, $q, $i] }",
                ])
                .to_owned(),
            'r' => self.pick(&REGEXES).to_owned(),
            'p' => format!("\"{}\"", self.pick(&PICTURES)),
            'i' => format!("\"{}\"", self.pick(&INTEGER_PICTURES)),
            't' => format!("\"{}\"", self.pick(&TIME_PICTURES)),
            _ => self.expression(depth),
        }
    }

    /// An expression with a token left out, doubled or swapped with another.
    pub(crate) fn mutate(&mut self, expression: &str) -> String {
        let mut tokens = tokens(expression);
        if tokens.is_empty() {
            return String::new();
        }
        let place = self.random.usize(..tokens.len());
        match self.random.u8(..4) {
            0 => {
                tokens.remove(place);
            }
            1 => tokens.insert(place, tokens[place].clone()),
            2 => {
                let other = self.random.usize(..tokens.len());
                tokens.swap(place, other);
            }
            _ => {
                let other = self
                    .pick(&[
                        "(", ")", "[", "]", "{", "}", ".", "..", "%", "*", "$", "@", "#", "^",
                        "~>", ":=", ";", ",", "?", ":", "1", "a",
                    ])
                    .to_owned();
                tokens[place] = other;
            }
        }
        tokens.concat()
    }
}

/// Words, blanks and single other characters.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    for c in expression.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// Values that are at the edge of something, as they are written in an expression.
const EDGES: [&str; 31] = [
    "missing",
    "null",
    "true",
    "false",
    "0",
    "1",
    "-1",
    "1.5",
    "-2.5",
    "1e21",
    "1e-7",
    "9007199254740993",
    "0.1+0.2",
    "\"\"",
    "\"a\"",
    "\"12\"",
    "\"1e5\"",
    "\"0b11\"",
    "\"a,b,c\"",
    "\"é😀\"",
    "\"%41%zz\"",
    "\"2018-02-30T10:00:00.5+01:00\"",
    "[]",
    "[1]",
    "[1,2,3]",
    "[\"b\",\"a\"]",
    "[1,\"a\",null]",
    "[[1],[2,3]]",
    "{}",
    "{\"b\":1,\"2\":2,\"1\":3}",
    "/a(b)?/",
];

/// Fewer of them, for the second place.
const SECOND_EDGES: [&str; 8] =
    ["missing", "-1", "2", "\"\"", "\"a\"", "[1,2]", "{\"a\":1}", "/a(b)?/"];

/// Every built-in with one and two edge values, and three for those that take them.
pub(crate) fn edge_calls() -> Vec<String> {
    let mut names: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    names.extend([
        "base64encode",
        "base64decode",
        "encodeUrl",
        "encodeUrlComponent",
        "decodeUrl",
        "decodeUrlComponent",
        "clone",
        "error",
        "assert",
        "shuffle",
        "formatNumber",
    ]);
    names.sort_unstable();
    names.dedup();
    names.retain(|name| *name != "shuffle");
    let mut calls = Vec::new();
    for name in names {
        calls.push(format!("${name}()"));
        for first in EDGES {
            calls.push(format!("${name}({first})"));
            for second in SECOND_EDGES {
                calls.push(format!("${name}({first}, {second})"));
            }
        }
        for third in EDGES {
            calls.push(format!("${name}(\"a,b\", \",\", {third})"));
            calls.push(format!("${name}(\"abcabc\", /b(c)?/, {third})"));
            calls.push(format!("${name}(12.5, 1, {third})"));
            calls.push(format!("${name}([3,1,2], function($x,$y){{$x>$y}}, {third})"));
            calls.push(format!("${name}({third}, function($v,$k){{$v}})"));
        }
    }
    let lines = [r"a\nb", r"a\r\nb\r\n", r"\u2028a\rb\u2029", "ab", ""];
    let patterns = ["^b?$", "^", "$", "(^a|b$)", "^a$|b", "a(?=$)", r"\S$", "^[^]", "^(.)(.)?$"];
    for (line, pattern) in lines.iter().flat_map(|line| patterns.map(|pattern| (line, pattern))) {
        for flags in ["", "m", "im"] {
            calls.push(format!("$replace(\"{line}\", /{pattern}/{flags}, \"<$1>\")"));
            calls.push(format!("$contains(\"{line}\", /{pattern}/{flags})"));
            calls.push(format!("$split(\"{line}\", /{pattern}/{flags})"));
        }
    }
    calls
}
