/* Sliders ask, the server answers, the plots follow. Nothing is asked of anybody else. */
(function () {
  "use strict";

  function all(selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  }

  function shown(value) {
    var size = Math.abs(value);
    if (value !== 0 && (size < 1e-3 || size >= 1e5)) {
      return value.toExponential().replace("e+", "e").replace("-", "−").replace("e-", "e−");
    }
    return String(value).replace("-", "−");
  }

  function setUpPart(part) {
    var inputs = all('input[type="range"]', part), plots = all(".plot", part);
    var words = part.querySelector("[data-words]"), pause = part.querySelector("[data-pause]");
    var first = inputs.map(function (input) { return input.value; });
    var asking = false, again = false, seen = false, paused = false, more = false;
    var touch = window.matchMedia("(pointer: coarse)").matches;

    function values(input) { return input.getAttribute("data-values").split(" ").map(Number); }

    function label(input) {
      var text = shown(values(input)[Number(input.value)]);
      part.querySelector('output[for="' + input.id + '"]').textContent = text;
      input.setAttribute("aria-valuetext", text);
    }

    function question() {
      return inputs.map(function (input) {
        return input.name + "=" + encodeURIComponent(values(input)[Number(input.value)]);
      }).join("&");
    }

    function writeKey(list, entries) {
      var text = JSON.stringify(entries);
      if (list.getAttribute("data-shown") === text) { return; }
      list.setAttribute("data-shown", text);
      list.hidden = !entries.length;
      list.textContent = "";
      entries.forEach(function (entry) {
        var item = document.createElement("li"), sample = document.createElement("span");
        sample.innerHTML = entry.sample;
        item.appendChild(sample);
        item.appendChild(document.createTextNode(entry.label));
        list.appendChild(item);
      });
    }

    function show(answer) {
      words.classList.remove("alarm");
      if (words.textContent !== answer.words) { words.textContent = answer.words; }
      part.querySelector("[data-call]").textContent = answer.call;
      writeKey(part.querySelector("[data-key]"), answer.key);
      answer.panels.forEach(function (panel, rank) {
        var plot = plots[rank], figure = plot.closest("figure");
        figure.querySelector("[data-title]").textContent = panel.letter + " " + panel.title;
        figure.querySelector("[data-note]").textContent = panel.note;
        plot.setAttribute("aria-label", panel.alt);
        writeKey(figure.querySelector("[data-own-key]"), panel.key);
        if (touch || (rank === 0 && part.hasAttribute("data-drag"))) {
          panel.plot.layout.dragmode = false;
        }
        window.Plotly.react(plot, panel.plot.data, panel.plot.layout, {
          responsive: true, displaylogo: false, displayModeBar: false
        });
      });
      more = answer.more;
      pause.hidden = !more;
    }

    function fail(sentence) {
      more = false;
      words.classList.add("alarm");
      words.textContent = sentence;
    }

    function ask() {
      if (asking) { again = true; return; }
      asking = true;
      again = false;
      part.setAttribute("aria-busy", "true");
      var asked = question();
      fetch("answer/" + part.getAttribute("data-part") + "?" + asked).then(function (reply) {
        return reply.json();
      }).then(function (answer) {
        if (answer.error) { fail(answer.error); } else if (asked === question()) { show(answer); }
      }).catch(function () {
        fail("There is no answer: has tacit explore been ended?");
      }).then(function () {
        asking = false;
        part.setAttribute("aria-busy", String(again || (more && !paused)));
        if (again) { ask(); } else if (more && !paused && near()) { ask(); }
      });
    }

    function near() {
      var box = part.getBoundingClientRect();
      return box.bottom > 0 && box.top < window.innerHeight;
    }

    function changed(input) { label(input); more = false; ask(); }

    function dragTo(plot, event) {
      var box = plot.getBoundingClientRect(), layout = plot._fullLayout, moved = false;
      var places = [
        layout.xaxis.p2d(event.clientX - box.left - layout.xaxis._offset),
        layout.yaxis.p2d(event.clientY - box.top - layout.yaxis._offset)
      ];
      part.getAttribute("data-drag").split(" ").forEach(function (name, rank) {
        var input = part.querySelector('input[name="' + name + '"]'), best = 0;
        var far = name === "gamma0" ? Math.log : Number;
        values(input).forEach(function (value, index, among) {
          function away(one) { return Math.abs(far(one) - far(places[rank])); }
          if (away(value) < away(among[best])) { best = index; }
        });
        if (String(best) !== input.value) { input.value = String(best); label(input); moved = true; }
      });
      if (moved) { more = false; ask(); }
    }

    function setUpDrag(plot) {
      var held = false;
      plot.setAttribute("data-drag-here", "");
      plot.addEventListener("pointerdown", function (event) {
        if (!plot._fullLayout) { return; }
        held = true;
        plot.setPointerCapture(event.pointerId);
        dragTo(plot, event);
      });
      plot.addEventListener("pointermove", function (event) { if (held) { dragTo(plot, event); } });
      ["pointerup", "pointercancel"].forEach(function (name) {
        plot.addEventListener(name, function () { held = false; });
      });
    }

    inputs.forEach(function (input) {
      label(input);
      input.addEventListener("input", function () { changed(input); });
    });
    part.querySelector("form").addEventListener("submit", function (event) {
      event.preventDefault();
    });
    part.querySelector("[data-reset]").addEventListener("click", function () {
      inputs.forEach(function (input, rank) { input.value = first[rank]; label(input); });
      more = false;
      ask();
    });
    pause.addEventListener("click", function () {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? "Go on" : "Pause";
      if (!paused) { ask(); }
    });
    if (part.hasAttribute("data-drag")) { setUpDrag(plots[0]); }
    new IntersectionObserver(function (entries) {
      var here = entries.some(function (entry) { return entry.isIntersecting; });
      if (here && (!seen || (more && !paused))) { seen = true; ask(); }
    }, { rootMargin: "200px 0px" }).observe(part);
  }

  all("[data-part]").forEach(setUpPart);
}());
