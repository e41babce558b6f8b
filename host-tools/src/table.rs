//! Columns side by side.

use std::io::{self, Write};

/// Prints rows in columns as wide as their widest cell, indented by two; columns of numbers line up on the right. The
/// first row is the heading.
///
/// # Errors
/// The writer's.
pub fn print(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).fold(0, usize::max);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths: Vec<usize> =
        (0..columns).map(|column| cells(column).map(|cell| cell.chars().count()).fold(0, usize::max)).collect();
    let numeric: Vec<bool> = (0..columns).map(|column| cells(column).skip(1).all(|cell| is_number(cell))).collect();
    for row in rows {
        let mut line = String::from(" ");
        for ((cell, width), numeric) in row.iter().zip(&widths).zip(&numeric) {
            let padding = " ".repeat(width - cell.chars().count());
            line.push(' ');
            if *numeric {
                line.push_str(&padding);
            }
            line.push_str(cell);
            if !*numeric {
                line.push_str(&padding);
            }
            line.push(' ');
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell == "-" || cell.parse::<f64>().is_ok()
}

/// Rows from borrowed and owned cells alike.
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($cell.to_string()),*] };
}
pub(crate) use row;

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_line_up_on_the_right() {
        let mut out = Vec::new();
        let rows = [row!["name", "count"], row!["l0w", 12], row!["bias", -3], row!["x", "-"]];
        super::print(&mut out, &rows).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "  name  count\n  l0w      12\n  bias     -3\n  x         -\n");
    }
}
