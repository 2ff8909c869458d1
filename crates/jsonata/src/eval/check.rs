//! Arguments against signatures.

use mcpgraph_value::Value;

use super::Evaluator;
use crate::error::{Failure, Outcome, fail};
use crate::function::Arguments;
use crate::item::Item;
use crate::signature::{Occurs, Parameter, Signature};

impl Evaluator<'_> {
    /// Checks arguments, fills in the context where the signature says so, and wraps single values
    /// where it wants arrays.
    pub(super) fn validate(
        &mut self,
        signature: &Signature,
        arguments: Arguments,
        context: Option<&Item>,
    ) -> Outcome<Arguments> {
        let letters: Vec<u8> = arguments.iter().map(|item| letter(item.as_ref())).collect();
        let parameters = &signature.parameters;
        let mut counts = vec![0; parameters.len()];
        if !assign(parameters, &letters, &mut counts, true) {
            return Err(mismatch(parameters, &letters, &arguments));
        }
        let mut validated = Vec::with_capacity(parameters.len());
        let mut left = arguments.into_iter();
        let mut index = 0;
        for (parameter, &count) in parameters.iter().zip(&counts) {
            if count == 0 {
                if parameter.from_context {
                    validated.push(from_context(parameter, context, index)?);
                } else {
                    validated.push(left.next().flatten());
                    index += 1;
                }
                continue;
            }
            for _ in 0..count {
                let argument = left.next().flatten();
                index += 1;
                validated.push(if parameter.is_array {
                    self.as_array(parameter, argument, count, index)?
                } else {
                    argument
                });
            }
        }
        Ok(validated)
    }

    fn as_array(
        &mut self,
        parameter: &Parameter,
        argument: Option<Item>,
        count: usize,
        index: usize,
    ) -> Outcome<Option<Item>> {
        let Some(argument) = argument else { return Ok(None) };
        if let Some(item) = &parameter.item {
            let wanted = item.bytes().next().unwrap_or(0);
            let fits = match argument.items() {
                Some(items) => {
                    self.budget.steps(items.len())?;
                    items.iter().all(|item| letter(item.present().as_ref()) == wanted)
                }
                None => count == 1 && item.as_bytes() == [letter(Some(&argument))],
            };
            if !fits {
                let plural = match wanted {
                    b'a' => "arrays",
                    b'b' => "booleans",
                    b'f' => "functions",
                    b'n' => "numbers",
                    b'o' => "objects",
                    _ => "strings",
                };
                let message = format!("argument {index} must be an array of {plural}");
                let mut failure = fail("T0412", message);
                failure.value = argument.into_value();
                return Err(failure);
            }
        }
        if argument.is_array() {
            return Ok(Some(argument));
        }
        Ok(Some(Item::array(vec![argument])))
    }
}

/// The letter of a value's type.
fn letter(item: Option<&Item>) -> u8 {
    match item {
        None | Some(Item::Hole) => b'm',
        Some(Item::Function(_)) => b'f',
        Some(Item::Irregular(_)) => b'n',
        Some(Item::List(_)) => b'a',
        Some(Item::Record(_)) => b'o',
        Some(Item::Value(value)) => match value {
            Value::Null => b'l',
            Value::Bool(_) => b'b',
            Value::Number(_) => b'n',
            Value::String(_) => b's',
            Value::Array(_) => b'a',
            Value::Object(_) => b'o',
        },
    }
}

fn accepts(parameter: &Parameter, letter: u8) -> bool {
    parameter.letters.as_bytes().contains(&letter)
}

/// Distributes arguments over parameters, each taking as many as it can; `whole` says that none
/// may be left.
fn assign(parameters: &[Parameter], letters: &[u8], counts: &mut [usize], whole: bool) -> bool {
    let Some((parameter, rest)) = parameters.split_first() else {
        return !whole || letters.is_empty();
    };
    let fitting = letters.iter().take_while(|&&letter| accepts(parameter, letter)).count();
    let (least, most) = match parameter.occurs {
        Occurs::Once => (1, 1),
        Occurs::Optional => (0, 1),
        Occurs::OnceOrMore => (1, letters.len()),
    };
    for count in (least..=most.min(fitting)).rev() {
        counts[0] = count;
        if assign(rest, &letters[count..], &mut counts[1..], whole) {
            return true;
        }
    }
    false
}

/// The first argument up to which the signature does not fit.
fn mismatch(parameters: &[Parameter], letters: &[u8], arguments: &Arguments) -> Failure {
    let mut counts = vec![0; parameters.len()];
    let mut fitting = 0;
    for end in 1..=parameters.len() {
        if !assign(&parameters[..end], letters, &mut counts[..end], false) {
            break;
        }
        fitting = counts[..end].iter().sum();
    }
    let message = format!("argument {} does not match the signature of the function", fitting + 1);
    let mut failure = fail("T0410", message);
    failure.value = arguments.get(fitting).cloned().flatten().and_then(Item::into_value);
    failure
}

fn from_context(
    parameter: &Parameter,
    context: Option<&Item>,
    index: usize,
) -> Outcome<Option<Item>> {
    if accepts(parameter, letter(context)) {
        return Ok(context.cloned());
    }
    let message = format!(
        "the context does not have the type of argument {}, for which it stands",
        index + 1
    );
    let mut failure = fail("T0411", message);
    failure.value = context.cloned().and_then(Item::into_value);
    Err(failure)
}
