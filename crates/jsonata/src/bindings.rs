use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mcpgraph_value::Value;

use crate::error::EvalError;
use crate::function::{HostCall, HostFunction, HostState};
use crate::signature::Signature;

/// The variables and functions that a host offers to an expression, by name without `$`.
///
/// A name that is also a built-in hides it. Copies share what they have, so that what is the same
/// for every evaluation is made once; what differs goes into [`Environment::state`].
///
/// [`Environment::state`]: crate::Environment::state
#[derive(Clone, Debug, Default)]
pub struct Bindings(Arc<HashMap<Arc<str>, Binding, RandomState>>);

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
        Arc::make_mut(&mut self.0).insert(name.into(), Binding::Value(value.into()));
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
        self.add(name.into(), signature, Box::new(move |_, arguments| call(arguments)))
    }

    /// Offers a function that works on the [`Environment::state`] of the evaluation that calls it.
    /// In an evaluation whose state is not a `T` it fails.
    ///
    /// [`Environment::state`]: crate::Environment::state
    pub fn function_on<T, F>(
        &mut self,
        name: impl Into<Arc<str>>,
        signature: &str,
        call: F,
    ) -> Result<&mut Self, BadSignature>
    where
        T: Send + Sync + 'static,
        F: Fn(&T, &[Option<Value>]) -> Result<Option<Value>, EvalError> + Send + Sync + 'static,
    {
        let call = move |state: Option<&HostState>, arguments: &[Option<Value>]| {
            let state = state.and_then(|state| state.downcast_ref()).ok_or_else(|| {
                EvalError::new("U1005", "the host gave no state that the function can work on")
            })?;
            call(state, arguments)
        };
        self.add(name.into(), signature, Box::new(call))
    }

    fn add(
        &mut self,
        name: Arc<str>,
        signature: &str,
        call: Box<HostCall>,
    ) -> Result<&mut Self, BadSignature> {
        let signature =
            Signature::parse(signature).map_err(|_| BadSignature(signature.to_owned()))?;
        let function = HostFunction { name: Arc::clone(&name), signature, call };
        Arc::make_mut(&mut self.0).insert(name, Binding::Function(Arc::new(function)));
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
