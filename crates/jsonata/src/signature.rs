//! Signatures of functions, such as `<s-n?:s>`.

use std::fmt;

/// The types a function takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    text: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// One place in a signature.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameter {
    /// The type letters an argument may have; `m` is a missing one.
    pub(crate) letters: String,
    /// Whether it is an `a`, so that a single value is wrapped.
    pub(crate) is_array: bool,
    /// The letters between `<` and `>` behind an `a` or `f`.
    pub(crate) item: Option<String>,
    pub(crate) occurs: Occurs,
    /// Whether the context stands in for a missing argument.
    pub(crate) from_context: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurs {
    Once,
    Optional,
    OnceOrMore,
}

/// Why a signature could not be read, and at which of its bytes.
#[derive(Debug)]
pub(crate) enum SignatureFault {
    TypeParameter { of: String, offset: usize },
    ChoiceOfParameterized { choice: String, offset: usize },
}

impl Signature {
    /// A signature that is part of this crate and known to be right.
    pub(crate) fn fixed(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self { text: text.to_owned(), parameters: Vec::new() })
    }

    /// Reads a signature with its angle brackets. Letters without meaning are passed over, and
    /// what follows a colon (the type of the result) is not checked, as in the reference.
    pub(crate) fn parse(text: &str) -> Result<Self, SignatureFault> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let bytes = text.as_bytes();
        let mut position = 1;
        while let Some(&byte) = bytes.get(position) {
            match byte {
                b':' => break,
                b's' | b'n' | b'b' | b'l' | b'o' => {
                    parameters.push(Parameter::of(format!("{}m", char::from(byte))));
                }
                b'a' => {
                    parameters.push(Parameter { is_array: true, ..Parameter::of("asnblfom") });
                }
                b'f' => parameters.push(Parameter::of("f")),
                b'j' => parameters.push(Parameter::of("asnblom")),
                b'x' => parameters.push(Parameter::of("asnblfom")),
                b'-' => {
                    if let Some(last) = parameters.last_mut() {
                        last.from_context = true;
                        last.occurs = Occurs::Optional;
                    }
                }
                b'?' | b'+' => {
                    if let Some(last) = parameters.last_mut() {
                        last.occurs =
                            if byte == b'?' { Occurs::Optional } else { Occurs::OnceOrMore };
                    }
                }
                b'(' => {
                    let end = closing(bytes, position, b'(', b')');
                    let choice = text.get(position + 1..end).unwrap_or_default();
                    if choice.contains('<') {
                        return Err(SignatureFault::ChoiceOfParameterized {
                            choice: choice.to_owned(),
                            offset: position,
                        });
                    }
                    parameters.push(Parameter::of(format!("{choice}m")));
                    position = end;
                }
                b'<' => {
                    let end = closing(bytes, position, b'<', b'>');
                    match parameters.last_mut() {
                        Some(last) if last.is_array || last.letters == "f" => {
                            last.item = text.get(position + 1..end).map(str::to_owned);
                        }
                        last => {
                            return Err(SignatureFault::TypeParameter {
                                of: last
                                    .map(|last| last.letters.trim_end_matches('m').to_owned())
                                    .unwrap_or_default(),
                                offset: position,
                            });
                        }
                    }
                    position = end;
                }
                _ => {}
            }
            position += 1;
        }
        Ok(Self { text: text.to_owned(), parameters })
    }
}

impl Parameter {
    fn of(letters: impl Into<String>) -> Self {
        Self {
            letters: letters.into(),
            is_array: false,
            item: None,
            occurs: Occurs::Once,
            from_context: false,
        }
    }
}

/// The place of the bracket that closes the one at `start`, or the end of the text.
fn closing(bytes: &[u8], start: usize, open: u8, close: u8) -> usize {
    let mut depth = 0_usize;
    for (place, &byte) in bytes.iter().enumerate().skip(start) {
        if byte == open {
            depth += 1;
        } else if byte == close {
            depth -= 1;
            if depth == 0 {
                return place;
            }
        }
    }
    bytes.len()
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
