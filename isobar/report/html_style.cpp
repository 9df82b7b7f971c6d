// The stylesheet and the script that all HTML pages share.
#include "isobar/report/html.hpp"

namespace isobar::report {

// The colours of categories are those of Okabe and Ito, which colour-blind readers can tell apart: convolutions blue,
// point-wise orange, forward light and backward dark.
std::string_view html_style() {
  return R"css(:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1b2430; --soft: #566273; --line: #d9dfe7; --panel: #f5f7fa; --link: #0a5cad;
  --good: #00704f; --bad: #b3400a; --grid: #e6eaf0; --frame: #9aa5b3;
  --c0: #56b4e9; --c1: #e69f00; --c2: #0072b2; --c3: #d55e00; --c4: #009e73; --c5: #f0e442; --c6: #8c8c40;
  --c7: #cc79a7; --c8: #5b4a9e; --c9: #dbe0e6;
  --s0: #0072b2; --s1: #d55e00; --s2: #00805d; --s3: #a8497f; --s4: #8a6a00; --s5: #5b4a9e; --s6: #2f8fc4; --s7: #566273;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12171e; --ink: #e4e9ef; --soft: #9dabbb; --line: #2f3945; --panel: #1a212a; --link: #6db8f5;
    --good: #3fc79a; --bad: #ff9558; --grid: #262f3a; --frame: #5d6b7b;
    --c0: #7cc6f0; --c1: #e9a91f; --c2: #2b8fd0; --c3: #e8742a; --c4: #16b184; --c5: #e6dc55; --c6: #a3a35a;
    --c7: #d58fb6; --c8: #8c7ad6; --c9: #3a4551;
    --s0: #58b0ee; --s1: #f58a45; --s2: #3fc79a; --s3: #e29bc4; --s4: #e0be4a; --s5: #a999ea; --s6: #9bd4f5; --s7: #9dabbb;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; max-width: 1180px; padding: 28px 24px 64px; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif; }
h1 { margin: 0 0 4px; font-size: 28px; line-height: 1.2; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 0 0 10px; font-size: 20px; line-height: 1.25; letter-spacing: -0.005em; }
h3 { margin: 22px 0 6px; font-size: 16px; }
p { margin: 0 0 10px; max-width: 76ch; }
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
section { margin-top: 40px; padding-top: 20px; border-top: 1px solid var(--line); scroll-margin-top: 8px; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 14px 0 0; font-size: 15px; }
.note { color: var(--soft); font-size: 14px; }
.missing { padding: 10px 14px; border-left: 3px solid var(--frame); background: var(--panel); color: var(--soft); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.good, .bad, .name { white-space: nowrap; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 0.86em; }
pre { margin: 0 0 10px; padding: 12px 14px; overflow: auto; max-height: 620px; background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px; line-height: 1.45; }
.box { overflow-x: auto; margin: 0 0 12px; background: linear-gradient(to right, var(--page) 40%, transparent) 0 / 36px 100%
  no-repeat local, linear-gradient(to left, var(--page) 40%, transparent) 100% / 36px 100% no-repeat local,
  linear-gradient(to right, var(--line), transparent) 0 / 14px 100% no-repeat scroll,
  linear-gradient(to left, var(--line), transparent) 100% / 14px 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 14.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 14px 5px 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: 13px; vertical-align: bottom; }
th.number, td.number { text-align: right; padding: 5px 0 5px 18px; white-space: nowrap; }
th.number + th:not(.number), td.number + td:not(.number) { padding-left: 22px; }
tr.sum td { font-weight: 600; border-top: 2px solid var(--frame); border-bottom: 0; }
table.pairs th { color: var(--soft); font-weight: 400; white-space: nowrap; padding-right: 22px; }
table.pairs td { overflow-wrap: anywhere; }
table.card td { line-height: 1.4; padding-top: 7px; padding-bottom: 7px; }
table.card td:nth-child(2) { min-width: 290px; }
table.card td:nth-child(4) { overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 10px; margin: 0 0 14px; }
.cards div { padding: 10px 14px; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
.cards b { display: block; font-size: 21px; line-height: 1.3; font-variant-numeric: tabular-nums; }
.cards span { color: var(--soft); font-size: 13.5px; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); gap: 18px 26px; }
.columns figure { max-width: 460px; }
figure { margin: 0 0 14px; }
figcaption { color: var(--soft); font-size: 14px; margin-top: 4px; max-width: 76ch; }
figcaption b { color: var(--ink); }
.picture { overflow-x: auto; }
.picture svg, .picture img { display: block; max-width: 100%; height: auto; }
.picture svg { background: #ffffff; border-radius: 6px; }
.picture img { image-rendering: auto; border-radius: 6px; }
.key { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 8px; padding: 0; list-style: none; font-size: 14px; }
.key i, td i { display: inline-block; width: 11px; height: 11px; margin-right: 7px; border-radius: 2px; }
.chart { display: block; width: 100%; height: auto; font-size: 12.5px; }
.chart text { fill: var(--ink); font-family: inherit; }
.c0 { fill: var(--c0); background: var(--c0); } .c1 { fill: var(--c1); background: var(--c1); }
.c2 { fill: var(--c2); background: var(--c2); } .c3 { fill: var(--c3); background: var(--c3); }
.c4 { fill: var(--c4); background: var(--c4); } .c5 { fill: var(--c5); background: var(--c5); }
.c6 { fill: var(--c6); background: var(--c6); } .c7 { fill: var(--c7); background: var(--c7); }
.c8 { fill: var(--c8); background: var(--c8); } .c9 { fill: var(--c9); background: var(--c9); }
.chart .s0 { fill: var(--s0); stroke: var(--s0); } .chart .s1 { fill: var(--s1); stroke: var(--s1); }
.chart .s2 { fill: var(--s2); stroke: var(--s2); } .chart .s3 { fill: var(--s3); stroke: var(--s3); }
.chart .s4 { fill: var(--s4); stroke: var(--s4); } .chart .s5 { fill: var(--s5); stroke: var(--s5); }
.chart .s6 { fill: var(--s6); stroke: var(--s6); } .chart .s7 { fill: var(--s7); stroke: var(--s7); }
.key .s0 { background: var(--s0); } .key .s1 { background: var(--s1); }
.key .s2 { background: var(--s2); } .key .s3 { background: var(--s3); }
.key .s4 { background: var(--s4); } .key .s5 { background: var(--s5); }
.key .s6 { background: var(--s6); } .key .s7 { background: var(--s7); }
.columns .key { justify-content: center; font-size: 13.5px; }
.chart .tick { fill: var(--soft); font-size: 12px; }
.chart .name { font-weight: 600; font-size: 15px; }
.chart .legend { font-size: 12px; stroke: none; }
.chart .grid { stroke: var(--grid); stroke-width: 1; }
.chart .frame { fill: none; stroke: var(--frame); stroke-width: 1; }
.chart .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.chart .marks { stroke: none; }
.chart .faint { opacity: 0.5; }
.chart .names text { paint-order: stroke; stroke: var(--page); stroke-width: 3px; }
.chart .roof { fill: none; stroke: var(--ink); stroke-width: 2; }
.chart .late { fill: var(--bad); font-weight: 600; }
.chart .rule { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 5 4; }
.chart .mark:hover, .chart rect:hover { filter: brightness(1.15); }
.narrow { display: none; }
#tip { position: fixed; z-index: 9; pointer-events: none; max-width: 300px; padding: 5px 9px; border-radius: 5px;
  background: var(--ink); color: var(--page); font-size: 13px; line-height: 1.35; white-space: pre-line; }
@media (max-width: 700px) {
  body { padding: 18px 16px 48px; }
  h1 { font-size: 23px; }
  section { margin-top: 30px; }
  .wide { display: none; }
  .narrow { display: block; }
  table { font-size: 13.5px; }
  table.card, table.card tbody, table.card tr, table.card td { display: block; }
  table.card thead { display: none; }
  table.card tr { padding: 9px 0; border-bottom: 1px solid var(--line); }
  table.card td, table.card td.number { padding: 1px 0; border: 0; text-align: left; }
  table.card td.number { float: left; width: 24px; color: var(--soft); }
  table.card td + td.number, table.card td.number ~ td { padding-left: 24px; }
  table.card td:nth-child(2) { min-width: 0; }
  .cards { grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); }
}
@media print { section { break-inside: avoid; } }
)css";
}

std::string_view html_script() {
  return R"js((function () {
  'use strict';
  var tip = null, shown = null;
  function hide() { if (tip) { tip.remove(); tip = null; } shown = null; }
  document.addEventListener('pointermove', function (event) {
    var mark = event.target instanceof SVGElement ? event.target.closest('.chart *') : null;
    if (!mark) { hide(); return; }
    var title = mark.querySelector(':scope > title');
    if (title) { mark.dataset.tip = title.textContent; title.remove(); }
    if (!mark.dataset.tip) { hide(); return; }
    if (mark !== shown) {
      hide();
      shown = mark;
      tip = document.createElement('div');
      tip.id = 'tip';
      tip.textContent = mark.dataset.tip;
      document.body.appendChild(tip);
    }
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = Math.max(4, event.clientY > innerHeight - 90 ? event.clientY - tip.offsetHeight - 12
                                                                  : event.clientY + 16) + 'px';
  }, { passive: true });
})();
)js";
}

}  // namespace isobar::report
