//! Durations as the environment writes them: `5s`, `1m30s`, `1.5h`, `0`.

/// Seconds of a duration; `None` for what is none. A sign is allowed, as the callers say which values they take.
pub fn parse(text: &str) -> Option<f64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0.0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number = rest[..digits].parse::<f64>().ok()?;
        rest = &rest[digits..];
        let unit_length = rest
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(rest.len());
        seconds += number
            * match &rest[..unit_length] {
                "ns" => 1e-9,
                "us" | "µs" | "μs" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = &rest[unit_length..];
    }
    Some(sign * seconds)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;

    #[test]
    fn texts_and_seconds() {
        let table = [
            ("5s", Some(5.0)),
            ("1m30s", Some(90.0)),
            ("1.5h", Some(5400.0)),
            ("250ms", Some(0.25)),
            ("0", Some(0.0)),
            ("-1s", Some(-1.0)),
            ("+2m", Some(120.0)),
            ("", None),
            ("5", None),
            ("s", None),
            ("5 s", None),
            ("five", None),
            (".s", None),
        ];
        for (text, seconds) in table {
            assert_eq!(parse(text), seconds, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,20}") {
            let _ = parse(&text);
        }
    }
}
