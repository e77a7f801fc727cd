//! Reads URLs the way Go's `net/url` does.
//!
//! Which addresses work, and how, was settled by that parser; manifests in use depend on it. The `url` crate follows
//! another standard (it resolves dots, lower-cases hosts, drops default ports, refuses what Go takes), so the rules
//! are written out here. Only what BMC addresses need is kept: no user names, no fragments in the result.

use std::fmt::Write;

/// Parts of a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoUrl {
    /// Scheme in lower case; empty if there is none.
    pub scheme: String,
    /// What follows the scheme when no slash does.
    pub opaque: String,
    /// Host and port as written, brackets kept, escapes resolved.
    pub host: String,
    /// Path, escapes resolved.
    pub path: String,
    /// Query as written.
    pub query: String,
}

/// Why a text is no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoUrlError {
    /// Control characters are never part of a URL.
    #[error("net/url: invalid control character in URL")]
    ControlCharacter,
    /// A colon comes first.
    #[error("missing protocol scheme")]
    MissingScheme,
    /// A colon that could be taken for the end of a scheme.
    #[error("first path segment in URL cannot contain colon")]
    ColonInFirstSegment,
    /// A percent sign without two hexadecimal digits, or of a character that must not be escaped there.
    #[error("invalid URL escape {}", quote(.0))]
    Escape(String),
    /// A character that host names cannot have.
    #[error("invalid character {} in host name", quote(.0))]
    HostCharacter(String),
    /// An IP literal without end.
    #[error("missing ']' in host")]
    MissingBracket,
    /// A port that is no number.
    #[error("invalid port {} after host", quote(.0))]
    Port(String),
    /// A character that user names cannot have.
    #[error("net/url: invalid userinfo")]
    UserInfo,
}

/// Which part of a URL is read; escapes have other rules in each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    Zone,
    Query,
    Other,
}

/// Reads a URL. The error comes with the text it is about, as users see it.
pub fn parse(text: &str) -> Result<GoUrl, String> {
    let (rest, fragment) = text
        .split_once('#')
        .map_or((text, ""), |(rest, fragment)| (rest, fragment));
    let url = parse_without_fragment(rest).map_err(|error| format!("parse {}: {error}", quote(rest)))?;
    unescape(fragment, Part::Other).map_err(|error| format!("parse {}: {error}", quote(text)))?;
    Ok(url)
}

fn parse_without_fragment(text: &str) -> Result<GoUrl, GoUrlError> {
    if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Err(GoUrlError::ControlCharacter);
    }
    if text == "*" {
        return Ok(GoUrl {
            path: "*".to_owned(),
            ..GoUrl::default()
        });
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = GoUrl {
        scheme: scheme.to_ascii_lowercase(),
        query: query.to_owned(),
        ..GoUrl::default()
    };
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            rest.clone_into(&mut url.opaque);
            return Ok(url);
        }
        if rest
            .split('/')
            .next()
            .is_some_and(|segment| segment.contains(':'))
        {
            return Err(GoUrlError::ColonInFirstSegment);
        }
    }
    let mut path = rest;
    if let Some(after) = rest.strip_prefix("//")
        && (!url.scheme.is_empty() || !rest.starts_with("///"))
    {
        let end = after.find('/').unwrap_or(after.len());
        url.host = parse_authority(&after[..end])?;
        path = &after[end..];
    }
    url.path = unescape(path, Part::Path)?;
    Ok(url)
}

/// Splits at the colon that ends the scheme. No scheme: the whole text is the rest.
fn split_scheme(text: &str) -> Result<(&str, &str), GoUrlError> {
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if index > 0 => {}
            b':' if index == 0 => return Err(GoUrlError::MissingScheme),
            b':' => return Ok((&text[..index], &text[index + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn parse_authority(text: &str) -> Result<String, GoUrlError> {
    let Some((user, host)) = text.rsplit_once('@') else {
        return parse_host(text);
    };
    let host = parse_host(host)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(allowed) {
        return Err(GoUrlError::UserInfo);
    }
    unescape(user, Part::Other)?;
    Ok(host)
}

fn parse_host(text: &str) -> Result<String, GoUrlError> {
    if text.starts_with('[') {
        let end = text.rfind(']').ok_or(GoUrlError::MissingBracket)?;
        let port = &text[end + 1..];
        if !is_optional_port(port) {
            return Err(GoUrlError::Port(port.to_owned()));
        }
        if let Some(zone) = text[..end].find("%25") {
            let address = unescape(&text[..zone], Part::Host)?;
            let zone = unescape(&text[zone..end], Part::Zone)?;
            let rest = unescape(&text[end..], Part::Host)?;
            return Ok(format!("{address}{zone}{rest}"));
        }
    } else if let Some(colon) = text.rfind(':')
        && !is_optional_port(&text[colon..])
    {
        return Err(GoUrlError::Port(text[colon..].to_owned()));
    }
    unescape(text, Part::Host)
}

/// Nothing, or a colon and digits (which may be missing).
fn is_optional_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Characters that stand for themselves in a host.
fn is_host_byte(byte: u8) -> bool {
    byte >= 0x80 || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

fn hex(byte: Option<&u8>) -> Option<u8> {
    let digit = char::from(*byte?).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// Resolves escapes. Bytes that are no UTF-8 become replacement characters, as they do in JSON later anyway.
fn unescape(text: &str, part: Part) -> Result<String, GoUrlError> {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut index = 0;
    let escape = |index: usize| {
        let end = bytes.len().min(index + 3);
        GoUrlError::Escape(String::from_utf8_lossy(&bytes[index..end]).into_owned())
    };
    while let Some(&byte) = bytes.get(index) {
        if byte == b'%' {
            let (Some(high), Some(low)) = (hex(bytes.get(index + 1)), hex(bytes.get(index + 2))) else {
                return Err(escape(index));
            };
            let value = high << 4 | low;
            let refused = match part {
                Part::Host => high < 8 && value != b'%',
                Part::Zone => value != b'%' && value != b' ' && !is_host_byte(value),
                Part::Path | Part::Query | Part::Other => false,
            };
            if refused {
                return Err(escape(index));
            }
            plain.push(value);
            index += 3;
            continue;
        }
        if matches!(part, Part::Host | Part::Zone) && !is_host_byte(byte) {
            return Err(GoUrlError::HostCharacter(char::from(byte).to_string()));
        }
        plain.push(if byte == b'+' && part == Part::Query {
            b' '
        } else {
            byte
        });
        index += 1;
    }
    Ok(String::from_utf8_lossy(&plain).into_owned())
}

/// Host name and port of a host field. Brackets are dropped; a port that is no number belongs to the name.
pub fn split_host(host: &str) -> (&str, &str) {
    let (mut name, mut port) = (host, "");
    if let Some(colon) = host.rfind(':')
        && is_optional_port(&host[colon..])
    {
        (name, port) = (&host[..colon], &host[colon + 1..]);
    }
    (
        name.strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'))
            .unwrap_or(name),
        port,
    )
}

/// Whether a text is `host:port` as Go's `net.SplitHostPort` sees it: a port must follow, an IPv6 address needs
/// brackets.
pub fn is_host_and_port(text: &str) -> bool {
    let Some(colon) = text.rfind(':') else {
        return false;
    };
    if let Some(inner) = text.strip_prefix('[') {
        let Some(end) = inner.find(']').map(|end| end + 1) else {
            return false;
        };
        end + 1 == colon && !text[1..].contains('[') && !text[colon..].contains(']')
    } else {
        !text[..colon].contains(':') && !text.contains(['[', ']'])
    }
}

/// The first value of a parameter. `None`: there is none, or the query as a whole is malformed.
pub fn query_value(query: &str, wanted: &str) -> Option<String> {
    let mut found = None;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if pair.contains(';') {
            return None;
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (
            unescape(name, Part::Query).ok()?,
            unescape(value, Part::Query).ok()?,
        );
        if name == wanted && found.is_none() {
            found = Some(value);
        }
    }
    found
}

/// A text in quotes, with escapes, as Go's `%q` writes it.
pub fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\u{7}' => quoted.push_str("\\a"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{b}' => quoted.push_str("\\v"),
            control if control.is_control() => {
                let width = if control.is_ascii() { 'x' } else { 'u' };
                let code = u32::from(control);
                // Writing to a String cannot fail.
                let _ = if width == 'x' {
                    write!(quoted, "\\x{code:02x}")
                } else {
                    write!(quoted, "\\u{code:04x}")
                };
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
