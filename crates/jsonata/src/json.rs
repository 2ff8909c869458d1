//! Values as text, as `$string` writes them.

use mcpgraph_value::{Number, Value};

use crate::error::{Failure, Outcome, fail};
use crate::item::{Item, Items, Members};
use crate::js;
use crate::limits::Budget;
use crate::stack;

/// The text of a value: a string as it is, a function as nothing, the rest as JSON.
pub(crate) fn to_text(item: &Item, pretty: bool, budget: &mut Budget) -> Outcome<String> {
    let mut writer = Writer { out: String::new(), charged: 0, pretty, level: 0, budget };
    match item {
        Item::Value(Value::String(text)) => writer.out.push_str(text),
        Item::Function(_) => {}
        Item::Irregular(_) => {
            let message = "a number that is infinite or not a number has no text";
            return Err(fail("D3001", message));
        }
        Item::List(list) if list.is_wrapper => match list.items.first() {
            Some(inner) => writer.item(inner)?,
            None => writer.out.push_str("null"),
        },
        item => writer.item(item)?,
    }
    writer.charge()?;
    Ok(writer.out)
}

struct Writer<'b> {
    out: String,
    /// How many bytes have been accounted for.
    charged: usize,
    pretty: bool,
    level: usize,
    budget: &'b mut Budget,
}

impl Writer<'_> {
    fn charge(&mut self) -> Outcome<()> {
        let grown = self.out.len() - self.charged;
        self.charged = self.out.len();
        self.budget.allocate(grown)
    }

    fn item(&mut self, item: &Item) -> Outcome<()> {
        self.budget.step()?;
        match item {
            Item::Value(value) => return self.value(value),
            Item::Irregular(number) if number.is_nan() => self.out.push_str("null"),
            Item::Irregular(number) => return Err(out_of_range(*number)),
            Item::Function(_) => self.out.push_str("\"\""),
            Item::Hole => self.out.push_str("null"),
            Item::List(list) => return self.array(Items::Items(&list.items)),
            Item::Record(record) => return self.object(Members::Items(record)),
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Outcome<()> {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(flag) => self.out.push_str(if *flag { "true" } else { "false" }),
            Value::Number(number) => {
                let text = number_text(number)?;
                self.out.push_str(&text);
            }
            Value::String(text) => self.string(text),
            Value::Array(items) => return self.array(Items::Values(items)),
            Value::Object(members) => return self.object(Members::Values(members)),
        }
        Ok(())
    }

    fn array(&mut self, items: Items<'_>) -> Outcome<()> {
        self.nested('[', ']', items.len(), |writer| {
            let mut first = true;
            match items {
                Items::Values(values) => {
                    for value in values {
                        writer.separate(&mut first)?;
                        writer.budget.step()?;
                        writer.value(value)?;
                    }
                }
                Items::Items(items) => {
                    for item in items {
                        writer.separate(&mut first)?;
                        writer.item(item)?;
                    }
                }
            }
            Ok(())
        })
    }

    fn object(&mut self, members: Members<'_>) -> Outcome<()> {
        self.nested('{', '}', members.len(), |writer| {
            let mut first = true;
            for (key, item) in members.entries() {
                writer.separate(&mut first)?;
                writer.string(&key);
                writer.out.push_str(if writer.pretty { ": " } else { ":" });
                writer.item(&item)?;
            }
            Ok(())
        })
    }

    fn nested(
        &mut self,
        open: char,
        close: char,
        count: usize,
        content: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        self.out.push(open);
        if count > 0 {
            self.budget.enter()?;
            self.level += 1;
            stack::grow(|| content(self))?;
            self.level -= 1;
            self.budget.leave();
            self.new_line();
        }
        self.out.push(close);
        self.charge()
    }

    fn separate(&mut self, first: &mut bool) -> Outcome<()> {
        if !std::mem::take(first) {
            self.out.push(',');
        }
        self.new_line();
        if self.out.len() - self.charged > 4096 { self.charge() } else { Ok(()) }
    }

    fn new_line(&mut self) {
        if self.pretty {
            self.out.push('\n');
            for _ in 0..self.level {
                self.out.push_str("  ");
            }
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        let mut plain_from = 0;
        for (place, byte) in text.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x8 => "\\b",
                0xC => "\\f",
                0..0x20 => "",
                _ => continue,
            };
            self.out.push_str(&text[plain_from..place]);
            plain_from = place + 1;
            if escape.is_empty() {
                self.out.push_str("\\u00");
                self.out.push(if byte < 0x10 { '0' } else { '1' });
                self.out.extend(char::from_digit(u32::from(byte & 0xF), 16));
            } else {
                self.out.push_str(escape);
            }
        }
        self.out.push_str(&text[plain_from..]);
        self.out.push('"');
    }
}

/// A number as JSON, rounded to 15 digits unless it is whole.
fn number_text(number: &Number) -> Outcome<String> {
    let float = number.as_f64();
    if float.is_infinite() {
        return Err(out_of_range(float));
    }
    if float.fract() == 0.0 {
        return Ok(js::number::to_string(float));
    }
    Ok(js::number::to_string(js::number::to_fifteen_digits(float)))
}

/// A number that has become infinite.
pub(crate) fn out_of_range(number: f64) -> Failure {
    fail("D1001", format!("the number {} is out of range", js::number::to_string(number)))
}
