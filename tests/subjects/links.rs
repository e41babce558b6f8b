//! Every link between the repository's pages leads to a file that is there, and to a heading that the file has.

use std::fs;
use std::path::{Path, PathBuf};
use tests::own;

/// Pages of a folder and those in it; what is built is none.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_source = !name.starts_with('.') && name != "target";
        // A link may lead in a circle, or to pages of others.
        if path.is_dir() && !path.is_symlink() && is_source {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The lines of a page that are no code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// What a link to a heading ends in.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Where a page's links lead.
fn links(text: &str) -> Vec<&str> {
    prose(text).flat_map(of_line).filter(|link| !link.contains("://")).collect()
}

fn of_line(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("](").filter_map(move |(at, mark)| Some(line[at + mark.len()..].split_once(')')?.0))
}

/// What is wrong with a link of a page.
fn broken(page: &Path, link: &str) -> Option<String> {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let to = if file.is_empty() { page.to_owned() } else { page.parent().unwrap().join(file) };
    if !to.exists() {
        return Some(format!("{}: {link} leads nowhere", page.display()));
    }
    if heading.is_empty() || to.extension().is_none_or(|extension| extension != "md") {
        return None;
    }
    let text = fs::read_to_string(&to).unwrap();
    let mut headings =
        prose(&text).filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#')));
    let is_there = headings.any(|found| found == heading);
    (!is_there).then(|| format!("{}: {link} has no such heading", page.display()))
}

#[test]
fn links_lead_somewhere() {
    let mut all = Vec::new();
    pages(&own(".."), &mut all);
    let texts: Vec<(PathBuf, String)> =
        all.into_iter().map(|page| (page.clone(), fs::read_to_string(&page).unwrap())).collect();
    let each = texts.iter().flat_map(|(page, text)| links(text).into_iter().map(move |link| (page, link)));
    let (mut count, mut wrong) = (0, Vec::new());
    for (page, link) in each {
        count += 1;
        wrong.extend(broken(page, link));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 50, "{count} links");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let page = own("../README.md");
    assert_eq!(links("a [b](C.md#d), [e](https://f.invalid)\n```\n[g](h)\n```\n[i](#j)"), ["C.md#d", "#j"]);
    assert_eq!(broken(&page, "quant/GUIDE.md"), None);
    assert!(broken(&page, "GUIDE.md").unwrap().ends_with("leads nowhere"));
    assert_eq!(broken(&page, "#guides"), None);
    assert!(broken(&page, "quant/GUIDE.md#guides").unwrap().ends_with("no such heading"));
}
