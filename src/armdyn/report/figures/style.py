"""The look of all pages: light, dark and print; from a phone to a wide screen."""

CSS = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #5d6b7e; --line: #dde3ec; --paper: #ffffff; --wash: #f4f6fa;
        --good: #0f7a45; --bad: #b42318; --warn: #955300; --blue: #1f57b3; --good-wash: #e9f6ee;
        --bad-wash: #fdeceb; --warn-wash: #fdf4e3; --shade: #1b243030; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e4e8ef; --soft: #97a3b6; --line: #2f3846;
        --paper: #11151c; --wash: #1a212c; --good: #52c88f; --bad: #ff8a80; --warn: #f0b44c; --blue: #8fb7f7;
        --good-wash: #14291f; --bad-wash: #34191a; --warn-wash: #2f2513; --shade: #e4e8ef38; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
       font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
.sheet { max-width: 1120px; margin: 0 auto; padding: 2.5rem 1.5rem 3rem; }
main { min-width: 0; }
a { color: var(--blue); text-decoration-thickness: 1px; text-underline-offset: .15em; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 0; letter-spacing: -.02em; }
h2 { font-size: 1.45rem; line-height: 1.3; margin: 3rem 0 .75rem; padding-top: 1.1rem; letter-spacing: -.01em;
     border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; line-height: 1.4; margin: 1.9rem 0 .5rem; }
h2 .ordinal { color: var(--soft); font-weight: 400; margin-right: .55em; text-decoration: none; }
p, ul, ol { max-width: 76ch; } p { margin: .6rem 0; }
p.source { color: var(--soft); margin: .35rem 0 1.75rem; }
.sheet > header + main > h2:first-child, main > section:first-of-type > h2 { margin-top: 0; }

nav.contents { font-size: .92rem; line-height: 1.45; margin: 0 0 2rem; padding: .9rem 1.1rem; background: var(--wash);
               border: 1px solid var(--line); border-radius: .6rem; }
nav.contents ol { list-style: none; margin: 0; padding: 0; columns: 13rem; max-width: none; }
nav.contents li { break-inside: avoid; padding: .14rem 0; }
nav.contents a { color: inherit; text-decoration: none; display: grid; grid-template-columns: 1.9em 1fr; }
nav.contents a:hover { color: var(--blue); }
nav.contents span { color: var(--soft); font-variant-numeric: tabular-nums; }
@media screen and (min-width: 1180px) {
  .sheet.wide { max-width: 1380px; display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); column-gap: 3rem; }
  .sheet.wide > header, .sheet.wide > footer { grid-column: 2; }
  .sheet.wide > nav.contents { grid-column: 1; grid-row: 1 / span 3; position: sticky; top: 1.5rem; align-self: start;
    max-height: calc(100vh - 3rem); overflow-y: auto; background: none; border: 0; padding: .5rem 0 0; margin: 0; }
  .sheet.wide > nav.contents ol { columns: auto; } }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1rem 0; }
.facts div { background: var(--wash); border: 1px solid var(--line); border-radius: .6rem; padding: .65rem .95rem; }
.facts span { display: block; color: var(--soft); font-size: .8rem; line-height: 1.35; }
.facts strong { font-weight: 600; line-height: 1.35; display: block; margin-top: .15rem; }
.facts small { display: block; color: var(--soft); font-size: .78rem; line-height: 1.35; margin-top: .15rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
.invalid { color: var(--bad); font-weight: 600; } .suspicious { color: var(--warn); font-weight: 600; }
.note { color: var(--blue); }
p.missing { background: var(--warn-wash); border-left: 3px solid var(--warn); padding: .6rem 1rem; }

figure { margin: 1.4rem 0; } figure svg { width: 100%; height: auto; display: block; overflow: visible; }
figure svg text { fill: currentColor; }
.large svg { min-width: 56rem; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); gap: 1rem 1.6rem; }
.panels svg { max-width: 38rem; }
figcaption, .remark { color: var(--soft); font-size: .9rem; line-height: 1.5; max-width: 84ch; }
figcaption { margin-top: .5rem; }
.key { display: flex; flex-wrap: wrap; gap: .15rem 1.2rem; font-size: .88rem; margin: .3rem 0 .7rem; padding: 0;
       list-style: none; max-width: none; }
.key i { display: inline-block; width: 1.5em; margin-right: .45em; border-top: 3px solid; vertical-align: middle; }
.key i.dashed { border-top-style: dashed; }

.scroll { overflow-x: auto; background:
  linear-gradient(90deg, var(--paper) 40%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper) 40%, transparent) right / 2.5rem 100% no-repeat local,
  linear-gradient(90deg, var(--shade), transparent) left / .6rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--shade), transparent) right / .6rem 100% no-repeat scroll; }
.formula { padding: .3rem 0 .3rem 2.6rem; text-indent: -1.6rem; line-height: 2.1; }
.formula math { font-size: 1.08rem; padding: 0.15em 0; }
table { border-collapse: collapse; font-size: .9rem; line-height: 1.45; margin: .4rem 0; }
th, td { padding: .34rem 1.1rem .34rem 0; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid var(--line); font-weight: 600; white-space: nowrap; vertical-align: bottom; }
thead small { display: block; font-weight: 400; color: var(--soft); min-height: 1.2em; }
tbody td { border-bottom: 1px solid var(--line); }
td.cell { font: .84rem/1.55 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; white-space: pre; }
td.prose { min-width: 11rem; }
th.number, td.number { text-align: right; }
dl { display: grid; grid-template-columns: fit-content(13rem) minmax(0, 1fr); gap: .35rem 1.5rem; margin: .6rem 0; }
dt { color: var(--soft); } dd { margin: 0; max-width: 84ch; }
ul, ol { padding-left: 1.3rem; } li { margin: .2rem 0; }
pre { background: var(--wash); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem;
      margin: .6rem 0; overflow-x: auto; font: .84rem/1.5 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
code { font: .88em ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft);
         font-size: .88rem; }
@media (max-width: 640px) { .sheet { padding: 1.4rem 1rem 2rem; } body { font-size: 15px; } h1 { font-size: 1.7rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dd { margin-bottom: .6rem; }
  .facts { grid-template-columns: repeat(auto-fill, minmax(8.4rem, 1fr)); }
  .formula { padding-left: 1.6rem; text-indent: -1.2rem; } }
@media print { html { font-size: 13px; } .sheet { max-width: none; padding: 0; } body { font-size: 10pt; }
  a { color: inherit; }
  nav.contents { background: none; } .scroll, pre { overflow: visible; background: none; }
  pre { white-space: pre-wrap; } .large svg { min-width: 0; }
  .facts { grid-template-columns: repeat(4, 1fr); } .panels { grid-template-columns: 1fr 1fr; }
  h2, h3 { break-after: avoid; } figure svg, tr, .facts div, .formula { break-inside: avoid; }
  table { font-size: 8pt; } td.cell { font-size: 7.2pt; } th, td { padding-right: .6rem; } }
"""
