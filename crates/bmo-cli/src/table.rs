//! A table of hosts that follows them: redrawn in place on a terminal, a line a change elsewhere.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::time::Instant;

use bmo_api::{BareMetalHost, ConditionType, find_condition};
use comfy_table::{Table, presets};
use kube::ResourceExt as _;

/// Follows hosts.
pub struct LiveTable {
    in_place: bool,
    drawn_lines: usize,
    rows: BTreeMap<String, Row>,
    started: Instant,
}

/// What is shown of a host.
struct Row {
    state: String,
    since: Instant,
    waits_for: String,
}

impl LiveTable {
    /// An empty one for standard output.
    pub fn new() -> Self {
        Self {
            in_place: std::io::stdout().is_terminal(),
            drawn_lines: 0,
            rows: BTreeMap::new(),
            started: Instant::now(),
        }
    }

    /// Shows the hosts as they are now.
    pub fn show(&mut self, hosts: &[BareMetalHost]) {
        let mut changed = Vec::new();
        for host in hosts {
            let (name, state, waits_for) = (host.name_any(), state_of(host), waits_for(host));
            match self.rows.get_mut(&name) {
                Some(row) if row.state == state => row.waits_for = waits_for,
                _ => {
                    changed.push(format!(
                        "{name}: {state}{}{waits_for}",
                        if waits_for.is_empty() { "" } else { ", " }
                    ));
                    self.rows.insert(
                        name,
                        Row {
                            state,
                            since: Instant::now(),
                            waits_for,
                        },
                    );
                }
            }
        }
        if self.in_place {
            self.redraw();
        } else {
            for line in changed {
                println!("{:>6.1} s  {line}", self.started.elapsed().as_secs_f64());
            }
        }
    }

    fn redraw(&mut self) {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_header(["NAME", "STATE", "SINCE", "WAITS FOR"]);
        for (name, row) in &self.rows {
            let since = format!("{} s", row.since.elapsed().as_secs());
            table.add_row([name, &row.state, &since, &row.waits_for]);
        }
        let text = table.to_string();
        let mut out = std::io::stdout().lock();
        if self.drawn_lines > 0 {
            // Up to the table's first line, and everything below away.
            let _ = write!(out, "\x1b[{}A\x1b[J", self.drawn_lines);
        }
        let _ = writeln!(out, "{text}");
        let _ = out.flush();
        self.drawn_lines = text.lines().count();
    }
}

fn state_of(host: &BareMetalHost) -> String {
    let state = host.state().to_string();
    if state.is_empty() {
        "(new)".to_owned()
    } else {
        state
    }
}

/// What keeps the host, in a few words.
pub fn waits_for(host: &BareMetalHost) -> String {
    let Some(status) = &host.status else {
        return String::new();
    };
    if !status.error_message.is_empty() {
        return status.error_message.clone();
    }
    [ConditionType::Progressing, ConditionType::Ready]
        .into_iter()
        .filter_map(|kind| find_condition(&status.conditions, kind.as_str()))
        .map(|condition| condition.message.clone())
        .find(|message| !message.is_empty())
        .unwrap_or_default()
}
