/* Colours, filters, plots. Everything is on the page already; nothing is fetched. */
(function () {
  "use strict";
  var root = document.documentElement;

  function kept(name, value) {
    try {
      if (value === undefined) { return window.localStorage.getItem(name); }
      window.localStorage.setItem(name, value);
    } catch (error) { /* the browser keeps nothing for files */ }
    return null;
  }

  var theme = kept("tacit-theme");
  if (theme === "dark" || theme === "light") { root.setAttribute("data-theme", theme); }

  function switchTheme() {
    var dark = root.getAttribute("data-theme") === "dark" || (
      !root.hasAttribute("data-theme") &&
      window.matchMedia("(prefers-color-scheme: dark)").matches
    );
    root.setAttribute("data-theme", dark ? "light" : "dark");
    kept("tacit-theme", dark ? "light" : "dark");
  }

  function all(selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  }

  function setUpFilters(bar) {
    var items = all("[data-states]"), papers = all("li.paper"), groups = all("details.group");
    var buttons = all("[data-kind]", bar), choice = bar.querySelector("[data-paper]");
    var found = bar.querySelector("[data-found]"), search = document.querySelector("[data-search]");
    var kind = "";

    function apply() {
      var word = search ? search.value.trim().toLowerCase() : "", shown = 0, seen = {};
      items.forEach(function (item) {
        var states = item.getAttribute("data-states").split(" ");
        var fits = (!kind || states.indexOf(kind) >= 0) &&
          (!choice.value || item.getAttribute("data-paper") === choice.value) &&
          (!word || item.textContent.toLowerCase().indexOf(word) >= 0);
        item.hidden = !fits;
        if (fits) { shown += 1; seen[item.getAttribute("data-paper")] = true; }
      });
      papers.forEach(function (item) { item.hidden = !seen[item.getAttribute("data-paper")]; });
      groups.forEach(function (group) {
        group.hidden = !all("[data-states]:not([hidden])", group).length;
        group.open = Boolean(kind || word);
      });
      buttons.forEach(function (button) {
        button.setAttribute("aria-pressed", String(button.getAttribute("data-kind") === kind));
      });
      found.textContent = shown === items.length ? "" : shown + " of " + items.length;
    }

    function fromAddress() {
      var parts = /^#(?:kind|paper)=/.test(window.location.hash) ?
        window.location.hash.slice(1).split("=") : null;
      if (!parts) { return; }
      var value = decodeURIComponent(parts[1]);
      if (parts[0] === "paper") { choice.value = value; } else { kind = value; }
      apply();
    }

    buttons.forEach(function (button) {
      button.addEventListener("click", function () {
        kind = button.getAttribute("data-kind");
        apply();
      });
    });
    choice.addEventListener("change", apply);
    if (search) { search.addEventListener("input", apply); }
    window.addEventListener("hashchange", fromAddress);
    fromAddress();
  }

  function setUpPlots() {
    if (!window.Plotly || !window.tacitPlots) { return; }
    var off = {}, touch = window.matchMedia("(pointer: coarse)").matches;
    var places = all("[data-plot]");
    places.forEach(function (place) {
      var plot = window.tacitPlots[Number(place.getAttribute("data-plot"))];
      /* A finger on a plot scrolls the page. */
      if (touch) { plot.layout.dragmode = false; }
      window.Plotly.newPlot(place, plot.data, plot.layout, {
        responsive: true, displaylogo: false, displayModeBar: false
      });
    });
    all("[data-series]").forEach(function (button) {
      button.addEventListener("click", function () {
        var series = Number(button.getAttribute("data-series"));
        off[series] = !off[series];
        all('[data-series="' + series + '"]').forEach(function (twin) {
          twin.setAttribute("aria-pressed", String(!off[series]));
        });
        places.forEach(function (place) {
          var plot = window.tacitPlots[Number(place.getAttribute("data-plot"))];
          var mine = [];
          plot.series.data.forEach(function (number, rank) {
            if (number === series) { mine.push(rank); }
          });
          if (mine.length) { window.Plotly.restyle(place, { visible: !off[series] }, mine); }
          if (plot.series.shapes.indexOf(series) >= 0) {
            var rest = plot.layout.shapes.map(function (shape, rank) {
              return Object.assign({}, shape, { visible: !off[plot.series.shapes[rank]] });
            });
            window.Plotly.relayout(place, { shapes: rest });
          }
        });
      });
    });
  }

  function setUpCopies() {
    all("[data-copy]").forEach(function (button) {
      button.addEventListener("click", function () {
        var text = document.getElementById(button.getAttribute("data-copy")).textContent;
        function done() { button.textContent = "copied"; }
        if (navigator.clipboard) {
          navigator.clipboard.writeText(text).then(done, function () { button.textContent = "copy"; });
        }
      });
    });
  }

  document.addEventListener("DOMContentLoaded", function () {
    all("[data-theme-switch]").forEach(function (button) {
      button.addEventListener("click", switchTheme);
    });
    all("[data-filters]").forEach(setUpFilters);
    setUpPlots();
    setUpCopies();
  });
}());
