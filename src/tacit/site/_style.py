"""How the page looks: one column of readable width, tables that scroll, light and dark."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2933; --muted: #5b6472; --line: #e2e6eb; --soft: #f6f7f9;
  --holds: #05603a; --holds-soft: #d7f4e3; --fails: #9b1c14; --fails-soft: #fde3e0;
  --undecided: #7a4b00; --undecided-soft: #feefc6; --link: #0b5cad; --alarm: #fff4f2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #e6e9ed; --muted: #9aa4b1; --line: #2c333c; --soft: #1b2027;
    --holds: #8ce0b1; --holds-soft: #123a27; --fails: #ffb0a8; --fails-soft: #4a1a16;
    --undecided: #f7cf7a; --undecided-soft: #43330e; --link: #7db8f5; --alarm: #2a1917;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
main, header { max-width: 82rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2.5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 0.8rem; }
h3 { font-size: 1.1rem; margin: 0; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 0.15em; }
code { font: 0.9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.lead, .small { color: var(--muted); }
.lead { margin: 0.4rem 0 1.6rem; max-width: 46rem; }
.small { font-size: 0.85rem; }
.counts { display: flex; flex-wrap: wrap; gap: 0.8rem; padding: 0; margin: 0; list-style: none; }
.counts li { border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem 1rem; }
.counts b { display: block; font-size: 1.5rem; line-height: 1.2; }
.counts .alarm { background: var(--alarm); border-color: var(--fails); color: var(--fails); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { padding: 0.55rem 0.8rem 0.55rem 0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: var(--muted); border-bottom: 2px solid var(--line); }
td { border-bottom: 1px solid var(--line); }
td.number { white-space: nowrap; }
td.words { min-width: 16rem; max-width: 28rem; }
tr.alarm td { background: var(--alarm); }
tr.alarm td:first-child { box-shadow: inset 4px 0 0 var(--fails); padding-left: 0.8rem; }
.tag { display: inline-block; border-radius: 99px; padding: 0.05rem 0.6rem; font-weight: 600;
  white-space: nowrap; }
.holds { background: var(--holds-soft); color: var(--holds); }
.fails { background: var(--fails-soft); color: var(--fails); }
.undecided, .unknown, .at-the-bound { background: var(--undecided-soft); color: var(--undecided); }
.surprise { display: block; color: var(--fails); font-weight: 600; font-size: 0.8rem; }
section { border-top: 1px solid var(--line); padding: 1.6rem 0; }
section dl { display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; margin: 0.5rem 0 1rem; }
section dl div { display: flex; gap: 0.4rem; }
dt { color: var(--muted); }
dd { margin: 0; }
figure { margin: 0; background: #ffffff; border-radius: 8px; padding: 0.5rem; overflow-x: auto; }
img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.none { color: var(--muted); background: var(--soft); border-radius: 8px; padding: 0.8rem 1rem; }
footer { max-width: 82rem; margin: 2rem auto; padding: 0 1.5rem; color: var(--muted); }
@media print { .scroll { overflow: visible; } section { break-inside: avoid; } }
"""
