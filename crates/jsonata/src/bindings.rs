use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mcpgraph_value::Value;

use crate::error::EvalError;
use crate::function::HostFunction;
use crate::signature::Signature;

/// The variables and functions that a host offers to an expression, by name without `$`.
///
/// A name that is also a built-in hides it.
#[derive(Clone, Debug, Default)]
pub struct Bindings(HashMap<Arc<str>, Binding, RandomState>);

#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Value(Value),
    Function(Arc<HostFunction>),
}

impl Bindings {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers a value.
    pub fn set(&mut self, name: impl Into<Arc<str>>, value: impl Into<Value>) -> &mut Self {
        self.0.insert(name.into(), Binding::Value(value.into()));
        self
    }

    /// Offers a function. The signature is checked before each call, as for built-ins: `<s-n?:x>`
    /// is a string, or the context in its place, and perhaps a number.
    pub fn function<F>(
        &mut self,
        name: impl Into<Arc<str>>,
        signature: &str,
        call: F,
    ) -> Result<&mut Self, BadSignature>
    where
        F: Fn(&[Option<Value>]) -> Result<Option<Value>, EvalError> + Send + Sync + 'static,
    {
        let name = name.into();
        let signature =
            Signature::parse(signature).map_err(|_| BadSignature(signature.to_owned()))?;
        let function = HostFunction { name: name.clone(), signature, call: Box::new(call) };
        self.0.insert(name, Binding::Function(Arc::new(function)));
        Ok(self)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Binding> {
        self.0.get(name)
    }
}

/// A text that is not the signature of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSignature(String);

impl std::fmt::Display for BadSignature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not the signature of a function", self.0)
    }
}

impl std::error::Error for BadSignature {}
