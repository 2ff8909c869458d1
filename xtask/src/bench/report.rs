/// What was measured, to be printed at the end.
pub(super) struct Report {
    lines: Vec<String>,
    notes: Vec<String>,
}

impl Report {
    pub(super) fn new() -> Self {
        let head = format!(
            "{:<38} {:>12} {:>12} {:>9}   {}",
            "", "mcpgraph", "npm peer", "ratio", "expected"
        );
        Self { lines: vec![head], notes: Vec::new() }
    }

    /// A figure of which less is better.
    pub(super) fn less(
        &mut self,
        name: &str,
        unit: &str,
        ours: f64,
        theirs: f64,
        wanted: Option<f64>,
    ) {
        self.line(name, &figure(ours, unit), &figure(theirs, unit), theirs / ours, wanted);
    }

    /// A figure of which more is better.
    pub(super) fn more(&mut self, name: &str, ours: f64, theirs: f64, wanted: Option<f64>) {
        self.line(name, &figure(ours, ""), &figure(theirs, ""), ours / theirs, wanted);
    }

    fn line(&mut self, name: &str, ours: &str, theirs: &str, ratio: f64, wanted: Option<f64>) {
        let verdict = wanted.map_or_else(String::new, |wanted| {
            format!("{wanted:.0}x {}", if ratio >= wanted { "reached" } else { "NOT REACHED" })
        });
        self.lines.push(format!("{name:<38} {ours:>12} {theirs:>12} {ratio:>8.1}x   {verdict}"));
    }

    /// A figure of ours alone that must stay below a bound.
    pub(super) fn below(&mut self, name: &str, unit: &str, ours: f64, bound: f64) {
        let verdict = if ours < bound { "reached" } else { "NOT REACHED" };
        self.lines.push(format!(
            "{name:<38} {:>12} {:>12} {:>9}   < {bound:.0} {unit} {verdict}",
            figure(ours, unit),
            "",
            ""
        ));
    }

    /// A figure of ours alone that must reach a bound.
    pub(super) fn above(&mut self, name: &str, ours: f64, bound: f64) {
        let verdict = if ours >= bound { "reached" } else { "NOT REACHED" };
        self.lines.push(format!(
            "{name:<38} {:>12} {:>12} {:>9}   >= {bound:.0} {verdict}",
            figure(ours, ""),
            "",
            ""
        ));
    }

    /// Two figures beside each other, with the first as a multiple of the second.
    pub(super) fn two(&mut self, name: &str, unit: &str, first: f64, second: f64) {
        let (first_shown, second_shown) = (figure(first, unit), figure(second, unit));
        let ratio = first / second;
        self.lines.push(format!("{name:<38} {first_shown:>12} {second_shown:>12} {ratio:>8.2}x"));
    }

    /// A figure of ours alone.
    pub(super) fn ours(&mut self, name: &str, unit: &str, ours: f64) {
        self.lines.push(format!("{name:<38} {:>12}", figure(ours, unit)));
    }

    /// Two figures of ours, of which the first must keep a share of the second.
    pub(super) fn at_least(&mut self, name: &str, with: f64, without: f64, share: f64) {
        let ratio = with / without;
        let verdict = if ratio >= share { "reached" } else { "NOT REACHED" };
        self.lines.push(format!(
            "{name:<38} {:>12} {:>12} {ratio:>8.2}x   >= {share:.2}x {verdict}",
            figure(with, ""),
            figure(without, ""),
        ));
    }

    /// A line between parts, with what its columns are.
    pub(super) fn part(&mut self, title: &str, first: &str, second: &str) {
        self.lines.push(format!("\n{title:<38} {first:>12} {second:>12}"));
    }

    /// Two figures of ours whose ratio must stay below a bound.
    pub(super) fn within(&mut self, name: &str, unit: &str, large: f64, small: f64, bound: f64) {
        let ratio = large / small;
        let verdict = if ratio <= bound { "reached" } else { "NOT REACHED" };
        self.lines.push(format!(
            "{name:<38} {:>12} {:>12} {ratio:>8.1}x   <= {bound:.0}x {verdict}",
            figure(large, unit),
            figure(small, unit),
        ));
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    #[expect(clippy::print_stdout, reason = "the figures are the task's data")]
    pub(super) fn print(&self) {
        println!("\n{}\n", self.lines.join("\n"));
        for note in &self.notes {
            println!("{note}");
        }
    }
}

fn figure(number: f64, unit: &str) -> String {
    let digits = usize::from(number.abs() < 100.0) + usize::from(number.abs() < 10.0);
    format!("{number:.digits$} {unit}").trim_end().to_owned()
}

/// The middle of some figures.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
