/* The page's own script: filters, charts, sorting, and where each figure comes from. Everything is in the page; nothing is loaded. */
"use strict";
(() => {
  const one = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(one("#data").textContent);

  // ---- data: columns, words once each (html.py, packed)
  const unpack = (packed) => Array.from({ length: packed.length }, (_, index) => {
    const record = {};
    for (const [name, column] of Object.entries(packed.columns)) {
      const value = column.words ? column.words[column.index[index]] : column[index];
      if (value !== null && value !== undefined) record[name] = value;
    }
    return record;
  });
  const datasets = Object.fromEntries(Object.entries(data.datasets).map(([name, packed]) => [name, unpack(packed)]));
  const entries = datasets.points.filter((point) => point.kind !== "published");
  const measurements = new Map(unpack(data.measurements).map((each) => [each.m, each]));
  const entriesOf = new Map();
  for (const entry of unpack(data.entries)) {
    if (!entriesOf.has(entry.m)) entriesOf.set(entry.m, []);
    entriesOf.get(entry.m).push(entry);
  }
  // the row of a figure; a derived figure has the first row of its measurement
  const rowOf = (entry, name) => (entriesOf.get(entry.m).find((each) =>
    each.metric === name && (!each.operation || each.operation === entry.operation)) ?? entry).row;
  const published = new Map(unpack(data.published).map((each) => [each.p, each]));

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };
  // as metrics.shown
  const shown = (value) => {
    if (value === null || value === undefined) return "-";
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  };

  const exact = (value) => value.toLocaleString("en-US", Number.isInteger(value) ? {} : { maximumSignificantDigits: 8 });

  // ---- filters: an empty choice means all
  const chosen = {};
  const chips = all(".filters .chip");
  for (const chip of chips) {
    chosen[chip.dataset.filter] ??= new Set();
    if (chip.getAttribute("aria-pressed") === "true") chosen[chip.dataset.filter].add(chip.dataset.value);
  }
  const initial = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
  const passes = (record, names) => names.every((name) => {
    const wanted = chosen[name];
    const value = record[name];
    return !wanted || wanted.size === 0 || value === undefined || value === null || value === "" || [...wanted].some((each) => String(value) === each || (name === "metric" && String(value).split(" ").includes(each)));
  });
  const EVERY = ["family", "nbits", "operation", "interface", "stage", "metric"];

  const press = (chip, pressed) => {
    const wanted = chosen[chip.dataset.filter];
    if (pressed && chip.dataset.single !== undefined) {
      for (const other of chips) if (other.dataset.filter === chip.dataset.filter && other !== chip) press(other, false);
    }
    chip.setAttribute("aria-pressed", String(pressed));
    if (pressed) wanted.add(chip.dataset.value); else wanted.delete(chip.dataset.value);
  };
  for (const chip of chips) {
    chip.addEventListener("click", () => { press(chip, chip.getAttribute("aria-pressed") !== "true"); update(); });
  }
  const reset = (to) => { for (const chip of chips) press(chip, to.includes(chip)); update(); };
  one("#all")?.addEventListener("click", () => reset([]));
  one("#first")?.addEventListener("click", () => reset(initial));

  const update = () => {
    for (const table of all("table[data-filters]")) {
      const names = table.dataset.filters.split(" ");
      let left = 0;
      for (const body of table.tBodies) {
        let here = 0;
        for (const row of body.rows) {
          if (row.className === "group") continue;
          row.hidden = !passes(row.dataset, names);
          here += !row.hidden;
        }
        body.hidden = here === 0;
        left += here;
      }
      table.closest(".block").classList.toggle("nothing", left === 0);
    }
    for (const figure of all("figure[data-family]")) figure.hidden = !passes(figure.dataset, ["family"]);
    for (const some of all(".pictures")) some.closest(".block").classList.toggle("nothing", all("figure", some).every((figure) => figure.hidden));
    for (const chart of charts.values()) chart.root.classList.toggle("nothing", recordsOf(chart).length === 0);
    const count = listFigures();
    for (const section of all("main > section")) { // hidden if it has no data for this choice
      const blocks = all(".block", section);
      section.hidden = blocks.length > 0 && blocks.every((block) => block.classList.contains("nothing"));
      const link = one(`.contents a[href="#${section.id}"]`);
      if (link) link.hidden = section.hidden;
    }
    for (const chart of charts.values()) refresh(chart);
    const note = one("#shown");
    if (note) note.textContent = `${count.toLocaleString("en-US")} of ${entries.length.toLocaleString("en-US")} points`;
    const words = all(".filters fieldset").map((group) => [group.dataset.title, all(".chip[aria-pressed=true]", group)])
      .filter(([, pressed]) => pressed.length)
      .map(([title, pressed]) => `${title.toLowerCase()}: ${pressed.map((chip) => chip.textContent).join(", ")}`);
    const told = one("#filtered");
    if (told) told.textContent = words.length ? `Shown here: ${words.join("; ")}.` : "Everything is shown.";
  };

  // ---- charts: drawn when they come near the window
  const charts = new Map();
  for (const chart of data.charts) {
    const root = one(`#chart-${chart.name}`);
    if (!root) continue;
    const made = { ...chart, root, view: null, drawing: null, records: [] };
    charts.set(chart.name, made);
    for (const select of all("select", root)) {
      select.addEventListener("change", () => {
        made.axes = [one("[name=x]", root).value, one("[name=y]", root).value];
        made.view?.finalize();
        made.view = made.drawing = null;
        draw(made);
      });
    }
    one(".save", root)?.addEventListener("click", () => save(made));
  }
  // as charts.filled: the metrics of the axes, and in the legend the families in the data
  const filled = (chart) => {
    let text = JSON.stringify(chart.spec).replaceAll('"@families"', JSON.stringify(chart.families));
    for (const [token, name] of chart.axes ? [["@x", chart.axes[0]], ["@y", chart.axes[1]]] : []) {
      const head = JSON.stringify(data.metrics[name].head).slice(1, -1);
      text = text.replaceAll(`${token}head`, head).replaceAll(token, name);
    }
    return JSON.parse(text);
  };
  // as charts.apart: labels do not overlap one another, nor those of other layers
  const apart = (vega) => {
    const avoidMarks = [];
    for (const mark of vega.marks.filter(({ type }) => type === "text")) {
      if (mark.name !== data.ends) mark.transform = [{ ...data.labels, avoidMarks: [...avoidMarks] }];
      avoidMarks.push(mark.name);
    }
    return vega;
  };
  const familiesOf = (records) => {
    const present = new Set(records.map((record) => record.family));
    return data.families.filter((name) => present.has(name));
  };
  const recordsOf = (chart) => {
    let records = datasets[chart.data].filter((record) => passes(record, chart.filters));
    if (chart.axes) records = records.filter((record) => record[chart.axes[0]] > 0 && record[chart.axes[1]] > 0);
    if (records.every((record) => record.last !== undefined)) records = []; // lines of reference without points
    return records.map((record) => ({ ...record })); // copies, because Vega modifies them
  };
  const draw = (chart) => {
    chart.records = recordsOf(chart);
    chart.root.classList.toggle("nothing", chart.records.length === 0);
    if (chart.records.length === 0) return null;
    if (chart.drawing) return chart.drawing;
    chart.families = familiesOf(chart.records);
    const spec = filled(chart);
    spec.width = "container";
    spec.autosize = { type: "fit-x", contains: "padding" };
    const width = one(".plot", chart.root).clientWidth;
    const narrow = width < 700;
    spec.config = {
      ...data.config,
      axisY: { ...data.config.axisY, labelLimit: Math.min(400, Math.round(0.42 * width)) },
      legend: { ...data.config.legend, columns: Math.min(5, Math.floor(width / 130)), layout: { bottom: { direction: narrow ? "vertical" : "horizontal" } } },
    };
    spec.data = { name: chart.data, values: chart.records };
    chart.drawing = window.vegaEmbed(one(".plot", chart.root), spec, { renderer: "svg", actions: false, mode: "vega-lite", logLevel: 1, patch: apart })
      .then((result) => {
        chart.view = result.view;
        chart.root.dataset.points = chart.records.length;
        result.view.addEventListener("click", (_, item) => {
          const datum = item && item.datum;
          if (datum && datum.p !== undefined) openPublished(datum.p);
          else if (datum && datum.m !== undefined) openMeasurement(datum.m, datum.row);
        });
      });
    return chart.drawing;
  };
  const refresh = (chart) => {
    if (!chart.drawing) {
      if (chart.near) draw(chart);
      return;
    }
    chart.drawing.then(() => {
      if (!chart.view) return;
      const records = recordsOf(chart);
      chart.root.classList.toggle("nothing", records.length === 0);
      if (records.length === 0) return;
      if (familiesOf(records).join() !== chart.families.join()) { // the legend changes
        chart.view.finalize();
        chart.view = chart.drawing = null;
        draw(chart);
        return;
      }
      chart.records = records;
      chart.view.data(chart.data, records);
      chart.view.runAsync().then(() => { chart.root.dataset.points = records.length; });
    });
  };
  const observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      const chart = charts.get(target.dataset.chart);
      observer.unobserve(target);
      chart.near = true;
      draw(chart);
    }
  }, { rootMargin: "300px" });
  const drawAll = () => Promise.all([...charts.values()].map((chart) => { chart.near = true; return draw(chart); }));
  window.addEventListener("beforeprint", drawAll);
  window.modexlab = { drawAll, charts };

  const download = (name, type, text) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };
  const save = (chart) => chart.view?.toSVG().then((text) => {
    const style = getComputedStyle(document.documentElement);
    const coloured = text.replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    download(`${chart.name}.svg`, "image/svg+xml", coloured);
  });

  // ---- the source of a figure
  const drawer = one("#drawer");
  let before = null;
  const open = (...content) => {
    if (drawer.hidden) before = document.activeElement;
    drawer.replaceChildren(element("button", { class: "quiet close", type: "button", onclick: close }, "Close"), ...content);
    drawer.hidden = false;
    drawer.scrollTop = 0;
    drawer.focus({ preventScroll: true });
  };
  const close = () => { drawer.hidden = true; before?.focus?.({ preventScroll: true }); };
  document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !drawer.hidden) close(); });
  const list = (pairs) => element("dl", {}, ...pairs.filter(([, value]) => value).flatMap(([name, value]) =>
    [element("dt", {}, name), element("dd", {}, ...(Array.isArray(value) ? value : [value]))]));
  const command = (text) => {
    const copy = element("button", { class: "quiet", type: "button" }, "Copy");
    copy.addEventListener("click", () => navigator.clipboard?.writeText(text).then(() => { copy.textContent = "Copied"; }, () => {}));
    return element("div", { class: "command" }, element("pre", {}, text), copy);
  };
  const openMeasurement = (number, row) => {
    const about = measurements.get(number);
    const found = entriesOf.get(number) ?? [];
    if (!about) return;
    const lines = found.map((each) => element("tr", { class: each.row === row ? "chosen" : null },
      element("td", {}, data.metrics[each.metric].title), element("td", {}, each.operation ?? ""), element("td", { class: "n" }, exact(each.value)),
      element("td", {}, data.metrics[each.metric].unit), element("td", { class: "n" }, String(each.row))));
    const details = data.details[number] ?? {};
    const modules = details.modules ? unpack(details.modules) : [];
    const largest = Math.max(...modules.map((each) => each.area_um2), 1);
    open(
      element("h2", {}, `${about.label}, ${about.nbits} bits`),
      ...(about.marks ? about.marks.split("\n").map((mark) => element("p", { class: "mark" }, `! ${mark}`)) : []),
      element("h3", {}, "Reproduce this figure"),
      command(`modexlab store reproduce ${row}`),
      element("p", { class: "note" }, "or, without the store,"),
      command(about.command),
      list([
        ["Checked", about.tests], ["Stage", about.setup], ["Corner", about.corner], ["Interface", about.interface], ["Parameters", about.parameters],
        ["Tools", about.tools], ["Verilog", about.verilog && element("code", {}, about.verilog)],
        ["Measured", about.when], ["Commit", about.commit && element("code", {}, about.commit)], ["Sources", about.sources],
        ["Unverified", about.unverified],
      ]),
      element("h3", {}, "Its figures"),
      element("table", {}, element("thead", {}, element("tr", {}, ...["Figure", "Operation", "Value", "Unit", "Row"].map((head, index) =>
        element("th", { class: index === 2 || index === 4 ? "n" : null }, head)))), element("tbody", {}, ...lines)),
      ...(details.path ? [element("h3", {}, "Longest path"), list([["From", details.path.start], ["To", details.path.end],
        ["Cells", String(details.path.cells)], ["Through", details.path.through]])] : []),
      ...(modules.length ? [element("h3", {}, "Area by module"), element("table", {}, element("tbody", {}, ...modules.map((each) =>
        element("tr", {}, element("td", {}, each.path), element("td", { class: "n" }, shown(each.area_um2)),
          element("td", { style: "width:30%" }, element("span", { class: "meter", style: `width:${(100 * each.area_um2 / largest).toFixed(1)}%` }))))))] : []),
      ...(details.caveats ? [element("h3", {}, "Caveats"), element("ul", {}, ...details.caveats.map((each) => element("li", {}, each)))] : []),
    );
  };
  const openPublished = (number) => {
    const about = published.get(number);
    if (!about) return;
    open(
      element("h2", {}, about.label),
      list([["Published", about.figures], ["Where", about.source], ["Paper", about.paper], ["Technology", about.technology],
        ["Compared with", about.ours], ["Note", about.note], ["Erratum", about.erratum]]),
      element("p", { class: "note" }, "A published figure: it was read from the paper, not measured here."),
    );
  };
  const told = (button) => {
    if (button.dataset.p) return published.get(button.dataset.p)?.source ?? "";
    const about = measurements.get(Number(button.dataset.m));
    return about ? `row ${button.dataset.r}: modexlab store reproduce ${button.dataset.r}\n${about.tests}\n${about.setup}\n${about.command}` : "";
  };
  document.addEventListener("pointerover", (event) => {
    const button = event.target.closest?.(".fig");
    if (button && !button.title) button.title = told(button);
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.(".fig");
    if (button) {
      if (button.dataset.p) openPublished(button.dataset.p);
      else openMeasurement(Number(button.dataset.m), Number(button.dataset.r));
    } else if (!drawer.hidden && !drawer.contains(event.target) && !event.target.closest?.(".plot")) close();
  });

  // ---- tables that can be sorted
  const sortable = (table, reorder) => {
    const heads = all("thead th", table);
    heads.forEach((head, index) => {
      const button = element("button", { type: "button", title: "Sort by this" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        reorder(index, down ? -1 : 1);
      });
    });
  };
  const compare = (a, b, sign) => {
    const none = (value) => value === null || value === undefined || value === "";
    if (none(a) || none(b)) return none(a) - none(b);
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
  };
  for (const table of all("table.sortable")) {
    sortable(table, (index, sign) => {
      const body = table.tBodies[0];
      const value = (row) => {
        const { v } = row.cells[index].dataset;
        return v === undefined ? row.cells[index].textContent : v === "" ? null : Number(v);
      };
      body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), sign)));
    });
  }

  // ---- all figures: the page holds only some of the many lines at a time
  const FIRST = 20;
  const table = one("#figures-table");
  let most = FIRST;
  let order = null;
  const columns = data.columns;
  const listed = () => {
    const metrics = wantedColumns().filter((column) => column.metric);
    const found = entries.filter((entry) => passes(entry, EVERY) && metrics.some(({ name }) => entry[name] !== undefined));
    if (order) found.sort((a, b) => compare(a[order.name], b[order.name], order.sign));
    return found;
  };
  const wantedColumns = () => columns.filter((column) => !column.metric || !chosen.metric?.size || chosen.metric.has(column.name));
  const listFigures = () => {
    if (!table) return 0;
    const found = listed();
    table.closest(".block").classList.toggle("nothing", found.length === 0);
    const shownColumns = new Set(wantedColumns().map((column) => column.name));
    all("thead th", table).forEach((head, index) => { head.hidden = !shownColumns.has(columns[index].name); });
    table.tBodies[0].replaceChildren(...found.slice(0, most).map((entry) => element("tr", { "data-m": entry.m },
      ...columns.map((column) => {
        const value = entry[column.name];
        const cell = !column.number ? (value ?? "")
          : value === undefined ? "-"
          : !column.metric ? String(value)
          : element("button", { class: "fig", "data-m": entry.m, "data-r": rowOf(entry, column.name) }, shown(value));
        return element("td", { class: column.number ? "n" : null, hidden: !shownColumns.has(column.name) }, cell);
      }))));
    const left = found.length - most;
    one("#more").hidden = one("#every").hidden = left <= 0;
    one("#listed").textContent = `${Math.min(most, found.length).toLocaleString("en-US")} of ${found.length.toLocaleString("en-US")} lines`;
    return found.length;
  };
  if (table) {
    sortable(table, (index, sign) => { order = { name: columns[index].name, sign }; listFigures(); });
    one("#more").addEventListener("click", () => { most += 5 * FIRST; listFigures(); });
    one("#every").addEventListener("click", () => { most = Infinity; listFigures(); });
    const quoted = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    one("#csv").addEventListener("click", () => {
      const wanted = wantedColumns();
      const lines = [wanted.map((column) => column.name), ...listed().map((entry) => wanted.map((column) => entry[column.name] ?? ""))];
      download("modexlab.csv", "text/csv", lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n");
    });
  }

  // ---- light and dark
  const theme = one("#theme");
  const themes = ["system", "light", "dark"];
  const remembered = () => { try { return localStorage.getItem("modexlab-theme"); } catch { return null; } };
  const wear = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    theme.textContent = `Theme: ${name}`;
    try { localStorage.setItem("modexlab-theme", name); } catch { /* the choice is not remembered */ }
  };
  let worn = themes.includes(remembered()) ? remembered() : "system";
  wear(worn);
  theme.addEventListener("click", () => { worn = themes[(themes.indexOf(worn) + 1) % themes.length]; wear(worn); });

  update();
  for (const chart of charts.values()) observer.observe(chart.root);
  const follow = () => {
    const row = /^#row-(\d+)$/.exec(location.hash);
    if (!row) return;
    for (const [number, found] of entriesOf) {
      if (found.some((each) => each.row === Number(row[1]))) openMeasurement(number, Number(row[1]));
    }
  };
  window.addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = "true";
})();
