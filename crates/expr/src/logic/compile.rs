use mcpgraph_diagnostics::suggest;
use mcpgraph_value::Value;

use super::coerce::Js;
use super::operand::Operand;
use super::operator::Operator;
use super::{Iteration, MAX_RULE_DEPTH, Place, Rule, Var};
use crate::{ExprError, Jsonata, Limit, Read, Reads, code};

/// The operators.
pub(super) const OPERATORS: &[&str] = &[
    "var",
    "missing",
    "missing_some",
    "if",
    "?:",
    "==",
    "===",
    "!=",
    "!==",
    "!",
    "!!",
    "or",
    "and",
    ">",
    ">=",
    "<",
    "<=",
    "max",
    "min",
    "+",
    "-",
    "*",
    "/",
    "%",
    "map",
    "reduce",
    "filter",
    "all",
    "none",
    "some",
    "merge",
    "in",
    "cat",
    "substr",
    "log",
];

/// The operator that an unknown one was meant to be, or all of them.
pub(crate) fn operator_hint(name: &str) -> String {
    suggest::did_you_mean(name, OPERATORS.iter().copied())
        .unwrap_or_else(|| format!("the operators are {}", OPERATORS.join(" ")))
}

/// Compiles a rule and tells what it reads and what is wrong with it.
pub(super) fn compile(rule: &Value) -> (Rule, Reads, Vec<ExprError>) {
    let mut compiler = Compiler::default();
    let rule = compiler.rule(rule);
    (rule, compiler.reads, compiler.errors)
}

#[derive(Default)]
struct Compiler {
    errors: Vec<ExprError>,
    reads: Reads,
    /// The keys and indexes from the rule down to the part at hand.
    path: Vec<String>,
    /// How many iterators are around the part at hand; inside them `var` does not see the context.
    local: usize,
}

impl Compiler {
    fn rule(&mut self, rule: &Value) -> Rule {
        if self.path.len() > MAX_RULE_DEPTH {
            self.fail(ExprError::exceeded(
                code::RULE_DEPTH,
                Limit::Depth,
                format!("the rule nests deeper than the limit of {MAX_RULE_DEPTH} levels"),
            ));
            return nothing();
        }
        match rule {
            Value::Array(items) => {
                let below = |(index, item): (usize, &Value)| {
                    self.below(index.to_string(), |this| this.rule(item))
                };
                let items: Vec<Rule> = items.iter().enumerate().map(below).collect();
                if items.iter().all(|item| matches!(item, Rule::Literal(_))) {
                    Rule::Literal(Js::Json(rule.clone()))
                } else {
                    Rule::List(items)
                }
            }
            Value::Object(members) if members.len() == 1 => {
                let operation = members.iter().next();
                operation.map_or_else(nothing, |(name, operands)| {
                    self.below(name.to_string(), |this| this.operation(name, operands))
                })
            }
            _ => Rule::Literal(Js::Json(rule.clone())),
        }
    }

    fn operation(&mut self, name: &str, operands: &Value) -> Rule {
        let operands = Operands::new(operands);
        let iteration = match name {
            "var" => return self.var(&operands),
            "if" | "?:" => return Rule::If(self.all(&operands)),
            "and" => return Rule::And(self.all(&operands)),
            "or" => return Rule::Or(self.all(&operands)),
            "missing" => return self.missing(&operands),
            "missing_some" => return self.missing_some(&operands),
            "reduce" => {
                let list = self.at(&operands, 0);
                let body = self.body(&operands);
                return Rule::Reduce(Box::new([list, body, self.at(&operands, 2)]));
            }
            "map" => Iteration::Map,
            "filter" => Iteration::Filter,
            "all" => Iteration::All,
            "some" => Iteration::Some,
            "none" => Iteration::None,
            _ => return self.call(name, &operands),
        };
        let list = self.at(&operands, 0);
        Rule::Each(iteration, Box::new([list, self.body(&operands)]))
    }

    fn call(&mut self, name: &str, operands: &Operands<'_>) -> Rule {
        let Some(operator) = Operator::from_name(name) else {
            self.fail(ExprError {
                token: Some(name.to_owned()),
                ..ExprError::new(code::UNKNOWN_OPERATOR, format!("unknown operator `{name}`"))
            });
            // What is wrong inside it is worth knowing too.
            self.all(operands);
            return nothing();
        };
        if operator == Operator::Multiply && operands.items.is_empty() {
            self.fail(ExprError::new(code::OPERANDS, "`*` needs at least one operand"));
        }
        Rule::Call(operator, self.all(operands))
    }

    fn var(&mut self, operands: &Operands<'_>) -> Rule {
        let (place, pointer) =
            self.operand(operands, 0, |this| (this.place(operands.items.first()), this.pointer()));
        let default = (operands.items.len() > 1).then(|| self.at(operands, 1));
        Rule::Var(Box::new(Var { place, default, pointer }))
    }

    /// What the operand of a `var` points at; a fault in it is reported.
    fn place(&mut self, operand: Option<&Value>) -> Place {
        match operand {
            None | Some(Value::Null) => self.known(Operand::Whole),
            Some(Value::String(text)) => match Operand::text(text) {
                Ok(operand) => self.known(operand),
                Err(_) => {
                    for error in Jsonata::problems(text) {
                        self.fail(error);
                    }
                    Place::Known(Operand::Whole)
                }
            },
            Some(scalar @ (Value::Number(_) | Value::Bool(_))) => {
                self.known(Operand::path(&scalar.to_json()))
            }
            Some(rule) => {
                self.read_anything();
                Place::Computed(self.rule(rule))
            }
        }
    }

    /// Notes what an operand reads of the context.
    fn known(&mut self, operand: Operand) -> Place {
        let pointer = self.pointer();
        match &operand {
            Operand::Jsonata(expression) if self.local > 0 => {
                self.reads.add_local(expression.reads(), &pointer);
            }
            _ if self.local > 0 => {}
            Operand::Whole => self.reads.whole = true,
            Operand::Path(names) => self.reads.paths.push(Read {
                names: names.iter().map(|name| (&**name).into()).collect(),
                span: None,
                pointer: Some(pointer),
            }),
            Operand::Jsonata(expression) => self.reads.add(expression.reads(), &pointer),
        }
        Place::Known(operand)
    }

    fn read_anything(&mut self) {
        self.reads.whole |= self.local == 0;
    }

    fn missing(&mut self, operands: &Operands<'_>) -> Rule {
        for (index, key) in operands.items.iter().enumerate() {
            self.operand(operands, index, |this| this.keys(key));
        }
        Rule::Missing(self.all(operands))
    }

    fn missing_some(&mut self, operands: &Operands<'_>) -> Rule {
        match operands.items.get(1) {
            Some(keys) => self.operand(operands, 1, |this| this.keys(keys)),
            None => self.fail(ExprError::new(
                code::OPERANDS,
                "`missing_some` needs a number and a list of keys",
            )),
        }
        Rule::MissingSome(Box::new([self.at(operands, 0), self.at(operands, 1)]))
    }

    /// Checks one key of `missing` or a list of them and notes what they read. A key is an operand
    /// of `var`.
    fn keys(&mut self, keys: &Value) {
        let Value::Array(list) = keys else { return self.key(keys) };
        for (index, key) in list.iter().enumerate() {
            self.below(index.to_string(), |this| this.key(key));
        }
    }

    fn key(&mut self, key: &Value) {
        match key {
            // What computes keys is compiled where it is an operand.
            Value::Array(_) | Value::Object(_) => self.read_anything(),
            key => {
                self.place(Some(key));
            }
        }
    }

    fn all(&mut self, operands: &Operands<'_>) -> Vec<Rule> {
        (0..operands.items.len()).map(|index| self.at(operands, index)).collect()
    }

    fn body(&mut self, operands: &Operands<'_>) -> Rule {
        self.local += 1;
        let body = self.at(operands, 1);
        self.local -= 1;
        body
    }

    /// The operand at an index, or undefined.
    fn at(&mut self, operands: &Operands<'_>, index: usize) -> Rule {
        match operands.items.get(index) {
            Some(rule) => self.operand(operands, index, |this| this.rule(rule)),
            None => nothing(),
        }
    }

    fn operand<R>(
        &mut self,
        operands: &Operands<'_>,
        index: usize,
        work: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if operands.listed { self.below(index.to_string(), work) } else { work(self) }
    }

    fn below<R>(&mut self, key: String, work: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(key);
        let result = work(self);
        self.path.pop();
        result
    }

    fn fail(&mut self, error: ExprError) {
        let pointer = self.pointer();
        self.errors.push(error.at_pointer(&pointer));
    }

    fn pointer(&self) -> String {
        pointer_of(&self.path)
    }
}

/// The pointer that these keys and indexes are.
pub(super) fn pointer_of(path: &[String]) -> String {
    path.iter().fold(String::new(), |pointer, key| {
        pointer + "/" + &key.replace('~', "~0").replace('/', "~1")
    })
}

/// The operands of an operator: a list, or one that is written without.
pub(super) struct Operands<'a> {
    pub(super) items: &'a [Value],
    pub(super) listed: bool,
}

impl<'a> Operands<'a> {
    pub(super) fn new(operands: &'a Value) -> Self {
        match operands {
            Value::Array(items) => Self { items, listed: true },
            single => Self { items: std::slice::from_ref(single), listed: false },
        }
    }
}

fn nothing() -> Rule {
    Rule::Literal(Js::Undefined)
}
