use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use crate::syntax::ast::RegexFlags;

/// A JavaScript pattern in the syntax of the Rust engines.
pub(super) enum Translated {
    /// For the linear engine.
    Linear(String),
    /// For the linear engine, with the ends of lines around it as part of the match: what is meant
    /// is the first group.
    Framed {
        /// Where the text begins.
        first: String,
        /// Behind that, if it has to begin a line.
        next: Option<String>,
    },
    /// For the linear engine where lines end with `\n` alone, and for the backtracking engine
    /// otherwise.
    Lines { linear: String, exact: String },
    /// For the backtracking engine: it has look-around or back-references.
    Backtracking(String),
}

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
/// What `\s` matches.
const SPACE: &str = r"\t\n\x0B\x0C\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";
/// What `.` does not.
const LINE_END: &str = r"\n\r\u{2028}\u{2029}";

/// Whether a character ends a line.
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Rewrites what means something else, or nothing, in Rust.
///
/// Classes are ASCII as in JavaScript. A character outside the basic plane is one character here,
/// two in JavaScript.
///
/// With the flag `m`, `^` and `$` look for four kinds of line ends, which the linear engine cannot:
/// it knows one, and has no look-around. Where they stand around the whole pattern it takes the
/// line ends into the match instead.
pub(super) fn translate(pattern: &str, flags: RegexFlags) -> Result<Translated, String> {
    let case = if flags.ignore_case { "(?i)" } else { "" };
    let exactly = || -> Result<String, String> {
        let translator = Translator::run(pattern, Some(flags))?;
        Ok(format!("{case}{}", translator.out))
    };
    let linear = Translator::run(pattern, None)?;
    if linear.needs_backtracking {
        return Ok(Translated::Backtracking(exactly()?));
    }
    if !flags.multi_line || linear.anchors == 0 {
        return Ok(Translated::Linear(format!("{case}{}", linear.out)));
    }
    let frame = Frame::of(pattern);
    match Translator::run(frame.inner, None) {
        Ok(inner) if inner.anchors == 0 && !inner.has_choice => {
            let after =
                if frame.ends_line { format!(r"(?:\z|[{LINE_END}])") } else { String::new() };
            let body = format!("({}){after}", inner.out);
            Ok(if frame.begins_line {
                Translated::Framed {
                    first: format!(r"{case}(?:\A|[{LINE_END}]){body}"),
                    next: Some(format!("{case}[{LINE_END}]{body}")),
                }
            } else {
                Translated::Framed { first: format!("{case}{body}"), next: None }
            })
        }
        _ => {
            Ok(Translated::Lines { linear: format!("(?m){case}{}", linear.out), exact: exactly()? })
        }
    }
}

/// What stands before and behind a whole pattern.
struct Frame<'p> {
    begins_line: bool,
    inner: &'p str,
    ends_line: bool,
}

impl<'p> Frame<'p> {
    fn of(pattern: &'p str) -> Self {
        let (begins_line, inner) = match pattern.strip_prefix('^') {
            Some(inner) => (true, inner),
            None => (false, pattern),
        };
        let is_escaped =
            |before: &str| before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        match inner.strip_suffix('$').filter(|before| !is_escaped(before)) {
            Some(inner) => Self { begins_line, inner, ends_line: true },
            None => Self { begins_line, inner, ends_line: false },
        }
    }
}

struct Translator<'p> {
    rest: Peekable<Chars<'p>>,
    out: String,
    needs_backtracking: bool,
    groups: usize,
    /// The flags, if the result is for the backtracking engine.
    exact: Option<RegexFlags>,
    /// How many `^` and `$` there are.
    anchors: usize,
    /// How many groups are open.
    depth: usize,
    /// Whether there is a `|` outside of all groups.
    has_choice: bool,
}

/// One member of a character class, or an escape outside of one.
enum Unit {
    Char(char),
    /// A class such as `\d`, as the inside of a bracket, and whether it is negated.
    Class(&'static str, bool),
}

impl<'p> Translator<'p> {
    fn run(pattern: &'p str, exact: Option<RegexFlags>) -> Result<Self, String> {
        let mut translator = Self {
            rest: pattern.chars().peekable(),
            out: String::with_capacity(pattern.len() + 16),
            needs_backtracking: exact.is_some(),
            groups: count_groups(pattern),
            exact,
            anchors: 0,
            depth: 0,
            has_choice: false,
        };
        translator.pattern()?;
        Ok(translator)
    }

    fn pattern(&mut self) -> Result<(), String> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '.' => self.push_class(LINE_END, true),
                '(' => {
                    self.depth += 1;
                    self.group()?;
                }
                ')' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.out.push(c);
                }
                '{' => match self.bounds() {
                    Some(bounds) => self.out.push_str(&bounds),
                    None => self.out.push_str(r"\{"),
                },
                '^' | '$' => self.anchor(c),
                '|' => {
                    self.has_choice |= self.depth == 0;
                    self.out.push(c);
                }
                '}' | ']' => self.push_char(c),
                '*' | '+' | '?' => self.out.push(c),
                c => self.push_char(c),
            }
        }
        Ok(())
    }

    /// `^` or `$`.
    fn anchor(&mut self, c: char) {
        self.anchors += 1;
        match (c, self.exact) {
            ('^', Some(flags)) if flags.multi_line => {
                self.push_format(format_args!(r"(?:\A|(?<=[{LINE_END}]))"));
            }
            (_, Some(flags)) if flags.multi_line => {
                self.push_format(format_args!(r"(?:\z|(?=[{LINE_END}]))"));
            }
            _ => self.out.push(c),
        }
    }

    fn push_char(&mut self, c: char) {
        if c.is_ascii_punctuation() {
            self.out.push('\\');
        }
        if c.is_ascii_whitespace() || c.is_control() {
            self.push_format(format_args!("\\x{{{:X}}}", u32::from(c)));
        } else {
            self.out.push(c);
        }
    }

    fn push_format(&mut self, text: fmt::Arguments<'_>) {
        self.out.push_str(&text.to_string());
    }

    fn push_class(&mut self, inside: &str, negated: bool) {
        self.out.push_str(if negated { "[^" } else { "[" });
        self.out.push_str(inside);
        self.out.push(']');
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        match self.rest.next() {
            Some(':') => self.out.push(':'),
            Some(look @ ('=' | '!')) => {
                self.needs_backtracking = true;
                self.out.push(look);
            }
            Some('<') => {
                self.out.push('<');
                if let Some(look) = self.rest.next_if(|c| matches!(c, '=' | '!')) {
                    self.needs_backtracking = true;
                    self.out.push(look);
                } else {
                    self.group_name();
                }
            }
            _ => return Err("`(?` must be followed by `:`, `=`, `!` or `<`".to_owned()),
        }
        Ok(())
    }

    /// A name up to its closing `>`, as it is; the engine says if it is none.
    fn group_name(&mut self) {
        for c in self.rest.by_ref() {
            self.out.push(c);
            if c == '>' {
                break;
            }
        }
    }

    /// `{n}`, `{n,}` or `{n,m}` behind the opening brace; anything else is a plain brace.
    fn bounds(&mut self) -> Option<String> {
        let mut ahead = self.rest.clone();
        let mut text = String::from("{");
        loop {
            let c = ahead.next()?;
            text.push(c);
            match c {
                '0'..='9' | ',' => {}
                '}' => break,
                _ => return None,
            }
        }
        let inside = &text[1..text.len() - 1];
        let (low, high) = inside.split_once(',').unwrap_or((inside, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if low.is_empty() || !digits(low) || !digits(high) {
            return None;
        }
        self.rest = ahead;
        Some(text)
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.rest.peek() {
            Some('b') => {
                self.rest.next();
                if self.exact.is_some() {
                    self.push_format(format_args!(
                        "(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
                    ));
                } else {
                    self.out.push_str(r"(?-u:\b)");
                }
                return Ok(());
            }
            Some('B') => {
                self.rest.next();
                self.needs_backtracking = true;
                self.push_format(format_args!(
                    "(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"
                ));
                return Ok(());
            }
            Some('k') if self.groups > 0 => {
                self.rest.next();
                self.needs_backtracking = true;
                self.out.push_str(r"\k");
                self.group_name();
                return Ok(());
            }
            Some('1'..='9') => {
                let mut number = 0_usize;
                let mut ahead = self.rest.clone();
                while let Some(digit) = ahead.peek().and_then(|c| c.to_digit(10)) {
                    number = number.saturating_mul(10).saturating_add(digit as usize);
                    ahead.next();
                }
                if number <= self.groups {
                    self.rest = ahead;
                    self.needs_backtracking = true;
                    // Wrapped, so that a digit that follows is not read as part of the number.
                    self.push_format(format_args!(r"(?:\{number})"));
                    return Ok(());
                }
            }
            _ => {}
        }
        match self.unit()? {
            Unit::Char(c) => self.push_char(c),
            Unit::Class(inside, negated) => self.push_class(inside, negated),
        }
        Ok(())
    }

    /// Reads what follows a backslash, inside or outside of brackets.
    fn unit(&mut self) -> Result<Unit, String> {
        let Some(c) = self.rest.next() else {
            return Err("it ends with a backslash".to_owned());
        };
        Ok(match c {
            'd' => Unit::Class(DIGIT, false),
            'D' => Unit::Class(DIGIT, true),
            'w' => Unit::Class(WORD, false),
            'W' => Unit::Class(WORD, true),
            's' => Unit::Class(SPACE, false),
            'S' => Unit::Class(SPACE, true),
            't' => Unit::Char('\t'),
            'n' => Unit::Char('\n'),
            'v' => Unit::Char('\u{b}'),
            'f' => Unit::Char('\u{c}'),
            'r' => Unit::Char('\r'),
            'c' => match self.rest.next_if(char::is_ascii_alphabetic) {
                Some(letter) => Unit::Char(char::from(letter as u8 & 0x1F)),
                None => Unit::Char('\\'),
            },
            'x' => Unit::Char(self.hex(2).unwrap_or('x')),
            'u' => Unit::Char(self.hex(4).unwrap_or('u')),
            '0'..='7' => Unit::Char(self.octal(c)),
            c => Unit::Char(c),
        })
    }

    /// `count` hexadecimal digits, or nothing is read. A pair of surrogates is one character.
    fn hex(&mut self, count: usize) -> Option<char> {
        let (unit, ahead) = hex_digits(self.rest.clone(), count)?;
        self.rest = ahead;
        if (0xD800..0xDC00).contains(&unit) {
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('\\')
                && ahead.next() == Some('u')
                && let Some((low @ 0xDC00..0xE000, ahead)) = hex_digits(ahead, 4)
            {
                self.rest = ahead;
                return char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            }
        }
        Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn octal(&mut self, first: char) -> char {
        let mut code = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(8)) else { break };
            if code * 8 + digit > 0o377 {
                break;
            }
            code = code * 8 + digit;
            self.rest.next();
        }
        char::from_u32(code).unwrap_or('\0')
    }

    /// `[…]`, with every member escaped, since Rust gives meaning to more of them.
    fn class(&mut self) -> Result<(), String> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        if self.rest.next_if_eq(&']').is_some() {
            // `[]` matches nothing, `[^]` everything.
            self.out.push_str(if negated { r"[\s\S]" } else { r"[^\s\S]" });
            return Ok(());
        }
        self.out.push_str(if negated { "[^" } else { "[" });
        loop {
            let unit = match self.rest.next() {
                None => return Err("a character class does not end".to_owned()),
                Some(']') => break,
                Some('\\') => self.class_escape()?,
                Some(c) => Unit::Char(c),
            };
            match unit {
                Unit::Char(c) => {
                    self.push_char(c);
                    self.range_end()?;
                }
                Unit::Class(inside, negated) => self.push_class(inside, negated),
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn class_escape(&mut self) -> Result<Unit, String> {
        if self.rest.next_if_eq(&'b').is_some() {
            return Ok(Unit::Char('\u{8}'));
        }
        self.unit()
    }

    /// `-z` behind the `a` of `[a-z]`.
    fn range_end(&mut self) -> Result<(), String> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || matches!(ahead.peek(), None | Some(']')) {
            return Ok(());
        }
        self.rest = ahead;
        let unit = match self.rest.next() {
            Some('\\') => self.class_escape()?,
            Some(c) => Unit::Char(c),
            None => return Ok(()),
        };
        match unit {
            Unit::Char(c) => {
                self.out.push('-');
                self.push_char(c);
            }
            Unit::Class(inside, negated) => {
                // Not a range: the dash is a member.
                self.push_char('-');
                self.push_class(inside, negated);
            }
        }
        Ok(())
    }
}

fn hex_digits(mut rest: Peekable<Chars<'_>>, count: usize) -> Option<(u32, Peekable<Chars<'_>>)> {
    let mut code = 0;
    for _ in 0..count {
        code = code * 16 + rest.next()?.to_digit(16)?;
    }
    Some((code, rest))
}

/// How many groups capture.
fn count_groups(pattern: &str) -> usize {
    let mut count = 0;
    let mut in_class = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let mut ahead = chars.clone();
                let captures = ahead.next() != Some('?')
                    || (ahead.next() == Some('<') && !matches!(ahead.next(), Some('=' | '!')));
                count += usize::from(captures);
            }
            _ => {}
        }
    }
    count
}
