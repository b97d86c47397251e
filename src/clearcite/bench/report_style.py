"""The head of a report: its policy forbids everything but its own style; the style is readable in light and dark."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --page: #ffffff; --line: #d0d7de;
  --s1: #0b62c4; --s2: #b35900; --s3: #6f42c1; --s4: #1a7f37; --s5: #57606a; --bad: #b3261e; --good: #1a7f37; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9aa7b4; --page: #0d1117; --line: #3a424c;
    --s1: #58a6ff; --s2: #f0883e; --s3: #bc8cff; --s4: #56d364; --s5: #9aa7b4; --bad: #ff7b72; --good: #56d364; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
h1 span { font-size: 1rem; padding: .15rem .6rem; border: 2px solid; border-radius: .4rem; margin-left: .5rem; }
.block, td.fail, td.error { color: var(--bad); font-weight: 600; }
h1 span.pass, td.pass { color: var(--good); }
td.inconclusive, td.unscored { font-weight: 600; } td.skipped { color: var(--soft); }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .6rem 0; font-size: .87rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; min-width: 3.5rem; }
th { color: var(--soft); } summary { cursor: pointer; color: var(--soft); }
svg { width: 100%; height: auto; display: block; } svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
text.mark { text-anchor: middle; }
text.end { text-anchor: end; } text.middle { text-anchor: middle; fill: var(--soft); } text.group { font-weight: 600; }
.grid { stroke: var(--line); } .whisker { stroke: var(--s1); stroke-width: 2; }
.line { fill: none; stroke: var(--s1); stroke-width: 2; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); } .s4 { fill: var(--s4); }
.s5 { fill: var(--s5); }
.cell { stroke: var(--line); fill: none; } .cell.first { fill: var(--bad); } .cell.also { fill: var(--line); }
svg text.in-first { fill: var(--page); font-weight: 600; }
@media print { :root { color-scheme: light; } details > * { display: block; } }
"""

HEAD = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{{title}}</title>
<style>{_STYLE.replace("{", "{{").replace("}", "}}")}</style>
</head>
"""
