//! What is taken from an answer.

use mcpgraph_config::Text;
use mcpgraph_config::model::{self, FilterValue, ResponseDef};
use mcpgraph_diagnostics::codes;
use mcpgraph_expr::{Filter, JsonPath, Pipeline, Wanted};

use super::Compiler;

impl Compiler<'_, '_> {
    pub(super) fn response(&mut self, def: &ResponseDef) -> Option<Pipeline> {
        let path = match JsonPath::compile(&def.path) {
            Ok(path) => path,
            Err(error) => {
                let span = match error.position {
                    Some(at) => def.path.locate(self.source, at..at + 1),
                    None => def.path.span(),
                };
                let hint = "`extract_path` is a JSONPath query, such as `$[*].name`";
                self.error(codes::RESPONSE_PATH, span, error.to_string(), hint);
                return None;
            }
        };
        let filter = def.filter.as_ref().map(|filter| Filter {
            field: filter.field.to_arc(),
            equals: match &filter.equals {
                FilterValue::Argument(name) => Wanted::Argument(name.to_arc()),
                FilterValue::Literal(value) => Wanted::Literal(value.value().clone()),
            },
        });
        if let Some(known) = self.arguments
            && let Some(model::FilterDef { equals: FilterValue::Argument(name), .. }) = &def.filter
            && !known.contains(&name.as_str())
        {
            let message = format!("there is no argument `{name}` to compare with");
            let hint = "add it to the properties of the input schema";
            self.error(codes::PLACEHOLDER_UNKNOWN, name.span(), message, hint);
        }
        let map = def.map.as_ref().map(Text::to_arc);
        Some(Pipeline { path, filter, map, unique: def.unique, sort: def.sort })
    }
}
