//! The JSON paths of printer columns and selectable fields: `.spec.a`, `.list[0].b`, `.map['key.with.dots']`,
//! `.conditions[?(@.type=="Ready")].status`, `.list[*].name`.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(i64),
    All,
    /// Items whose field equals (or differs from) a value.
    Where {
        field: Vec<String>,
        value: String,
        equal: bool,
    },
}

/// A compiled path. One that cannot be understood matches nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonPath(Vec<Step>);

impl JsonPath {
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text
            .trim()
            .trim_start_matches('{')
            .trim_end_matches('}')
            .trim_start_matches('$');
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let end = bracket_end(inner)?;
                steps.push(bracket(&inner[..end])?);
                rest = &inner[end + 1..];
            } else {
                rest = rest.strip_prefix('.').unwrap_or(rest);
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                match &rest[..end] {
                    "" if end == rest.len() => {}
                    "" if rest.starts_with('[') => {}
                    "" => return None,
                    "*" => steps.push(Step::All),
                    name => steps.push(Step::Field(name.replace('\\', ""))),
                }
                rest = &rest[end..];
            }
        }
        Some(Self(steps))
    }

    /// All values the path leads to.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        self.0.iter().fold(vec![value], |found, step| {
            found.into_iter().flat_map(|value| step.apply(value)).collect()
        })
    }
}

/// Where the bracket ends, quotes respected.
fn bracket_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return Some(at),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    None
}

fn unquote(text: &str) -> &str {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}

fn bracket(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::All);
    }
    if let Ok(index) = text.parse() {
        return Some(Step::Index(index));
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|text| text.strip_suffix(')')) {
        let (field, value, equal) = match (filter.split_once("=="), filter.split_once("!=")) {
            (Some((field, value)), _) => (field, value, true),
            (None, Some((field, value))) => (field, value, false),
            _ => return None,
        };
        let field = field
            .trim()
            .strip_prefix("@.")?
            .split('.')
            .map(str::to_owned)
            .collect();
        return Some(Step::Where {
            field,
            value: unquote(value).to_owned(),
            equal,
        });
    }
    let name = unquote(text);
    (name.len() < text.len()).then(|| Step::Field(name.to_owned()))
}

impl Step {
    fn apply<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Field(name) => value.get(name).into_iter().collect(),
            Self::Index(index) => {
                let length = value.as_array().map_or(0, Vec::len);
                let index = if *index < 0 {
                    length.checked_sub(usize::try_from(-index).unwrap_or(usize::MAX))
                } else {
                    usize::try_from(*index).ok()
                };
                index.and_then(|index| value.get(index)).into_iter().collect()
            }
            Self::All => match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(map) => map.values().collect(),
                _ => Vec::new(),
            },
            Self::Where {
                field,
                value: wanted,
                equal,
            } => {
                let matches = |item: &&Value| {
                    let found = field.iter().try_fold(*item, |value, name| value.get(name));
                    let text =
                        found.map(|found| found.as_str().map_or_else(|| found.to_string(), str::to_owned));
                    text.is_some_and(|text| (text == *wanted) == *equal)
                };
                value.as_array().into_iter().flatten().filter(matches).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn paths_of_real_columns() {
        let object = json!({"spec": {"bmc": {"address": "x"}, "list": [{"n": 1}, {"n": 2}]},
            "metadata": {"labels": {"a.b/c": "y"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Valid", "status": "False"}]}});
        for (path, wanted) in [
            (".spec.bmc.address", json!(["x"])),
            ("{.spec.list[1].n}", json!([2])),
            (".spec.list[-1].n", json!([2])),
            (".spec.list[*].n", json!([1, 2])),
            (".metadata.labels['a.b/c']", json!(["y"])),
            (
                r#".status.conditions[?(@.type=="Valid")].status"#,
                json!(["False"]),
            ),
            (".status.conditions[?(@.type=='Ready')].status", json!(["True"])),
            (".spec.nothing", json!([])),
        ] {
            assert_eq!(
                json!(JsonPath::parse(path).unwrap().find(&object)),
                wanted,
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in r#"[.\[\]a-c*?@='"0-9()$-]{0,30}"#) {
            if let Some(path) = JsonPath::parse(&text) {
                path.find(&json!({"a": [{"b": 1}]}));
            }
        }
    }
}
