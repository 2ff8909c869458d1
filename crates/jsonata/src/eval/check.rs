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
        let parameters = &signature.parameters;
        if fits_one_to_one(parameters, &arguments) {
            return self.validate_one_to_one(parameters, arguments);
        }
        let letters: Vec<u8> = arguments.iter().map(|item| letter(item.as_ref())).collect();
        let Some(counts) = self.assign(parameters, &letters, true)? else {
            return Err(self.mismatch(parameters, &letters, &arguments)?);
        };
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

    /// The common case: one argument for every parameter.
    fn validate_one_to_one(
        &mut self,
        parameters: &[Parameter],
        mut arguments: Arguments,
    ) -> Outcome<Arguments> {
        for (index, (parameter, argument)) in parameters.iter().zip(&mut arguments).enumerate() {
            if parameter.is_array {
                *argument = self.as_array(parameter, argument.take(), 1, index + 1)?;
            }
        }
        Ok(arguments)
    }

    /// How many arguments each parameter takes, each as many as leave enough for those behind it;
    /// `whole` says that none may be left over.
    fn assign(
        &mut self,
        parameters: &[Parameter],
        letters: &[u8],
        whole: bool,
    ) -> Outcome<Option<Vec<usize>>> {
        let width = letters.len() + 1;
        let cells = (parameters.len() + 1).saturating_mul(width);
        self.budget.steps(cells)?;
        self.budget.allocate(cells)?;
        // Whether the parameters from one on can take the arguments from one on.
        let mut fits = vec![false; cells];
        for place in 0..width {
            fits[parameters.len() * width + place] = !whole || place == letters.len();
        }
        for (row, parameter) in parameters.iter().enumerate().rev() {
            for place in (0..width).rev() {
                let next = (row + 1) * width;
                let takes = place < letters.len() && accepts(parameter, letters[place]);
                fits[row * width + place] = match parameter.occurs {
                    Occurs::Once => takes && fits[next + place + 1],
                    Occurs::Optional => fits[next + place] || takes && fits[next + place + 1],
                    Occurs::OnceOrMore => {
                        takes && (fits[next + place + 1] || fits[row * width + place + 1])
                    }
                };
            }
        }
        if !fits[0] {
            return Ok(None);
        }
        let mut counts = Vec::with_capacity(parameters.len());
        let mut place = 0;
        for (row, parameter) in parameters.iter().enumerate() {
            let fitting =
                letters[place..].iter().take_while(|&&letter| accepts(parameter, letter)).count();
            let most =
                if parameter.occurs == Occurs::OnceOrMore { fitting } else { fitting.min(1) };
            let next = (row + 1) * width;
            let count = (0..=most).rev().find(|count| fits[next + place + count]).unwrap_or(0);
            counts.push(count);
            place += count;
        }
        Ok(Some(counts))
    }

    /// The error about the first argument up to which the signature does not fit.
    fn mismatch(
        &mut self,
        parameters: &[Parameter],
        letters: &[u8],
        arguments: &Arguments,
    ) -> Outcome<Failure> {
        let mut fitting = 0;
        for end in 1..=parameters.len() {
            match self.assign(&parameters[..end], letters, false)? {
                Some(counts) => fitting = counts.iter().sum(),
                None => break,
            }
        }
        let message =
            format!("argument {} does not match the signature of the function", fitting + 1);
        let mut failure = fail("T0410", message);
        failure.value = arguments.get(fitting).cloned().flatten().and_then(Item::into_value);
        Ok(failure)
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

/// Whether there is one argument for every parameter, and that is the only way to see it.
fn fits_one_to_one(parameters: &[Parameter], arguments: &Arguments) -> bool {
    parameters.len() == arguments.len()
        && parameters.iter().zip(arguments).all(|(parameter, argument)| {
            parameter.occurs != Occurs::OnceOrMore && accepts(parameter, letter(argument.as_ref()))
        })
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
