"use strict";
// Requests to the server, and how the page shows the answers.

const $ = (id) => document.getElementById(id);
const view = new View($("view")), chart = new Chart($("chart"), $("legend"));
let about, q, target, state, film = null, playing = false, started = 0, size = 1, centre = [0, 0, 0], floor = 0;

async function ask(question, body = {}) {
  const reply = await fetch(`/api/${question}`, { method: "POST", body: JSON.stringify(body) });
  const answer = await reply.json();
  if (!reply.ok) throw new Error([answer.what, answer.expected && `Expected: ${answer.expected}.`, answer.advice].filter(Boolean).join(" "));
  return answer;
}

function say(text, bad = false) { $("message").textContent = text; $("message").classList.toggle("bad", bad); }
function guarded(action) { return async (...given) => { try { await action(...given); } catch (error) { say(error.message, true); } }; }
function short(x, digits = 4) { return x === null ? "not finite" : Math.abs(x) < 1e-12 ? "0" : String(Number(x.toPrecision(digits))); }

// Joints ----------------------------------------------------------------------------------------------------------

function makeJoints() {
  const body = $("joints").tBodies[0];
  about.joints.forEach((joint, j) => {
    const row = body.insertRow();
    row.insertCell().textContent = joint.name;
    const slider = row.insertCell().appendChild(document.createElement("input"));
    Object.assign(slider, { type: "range", min: joint.lower, max: joint.upper, step: "any", value: q[j] });
    slider.setAttribute("aria-label", `position of ${joint.name}`);
    slider.addEventListener("input", () => { stop(); q[j] = Number(slider.value); refresh(); });
    row.insertCell().className = "number";
    const goal = row.insertCell().appendChild(document.createElement("input"));
    Object.assign(goal, { type: "number", step: "0.05", min: joint.lower, max: joint.upper, value: short(target[j]) });
    goal.setAttribute("aria-label", `target of ${joint.name}, ${joint.unit}`);
    goal.addEventListener("change", () => { target[j] = Number(goal.value); });
    const load = row.insertCell();
    load.append(document.createElement("span"));
    if (joint.torque) { const bar = document.createElement("div"); bar.className = "load"; bar.append(document.createElement("i")); load.append(bar); }
  });
}

function showJoints(values) {
  [...$("joints").tBodies[0].rows].forEach((row, j) => {
    const joint = about.joints[j];
    row.cells[1].firstChild.value = values[j];
    row.cells[2].textContent = `${values[j].toFixed(3)} ${joint.unit}`;
  });
}

function showTargets() { [...$("joints").tBodies[0].rows].forEach((row, j) => { row.cells[3].firstChild.value = short(target[j]); }); }

// One configuration -------------------------------------------------------------------------------------------------

let waiting = false, again = false;
const refresh = guarded(async () => {
  showJoints(q);
  if (waiting) { again = true; return; }
  waiting = true;
  try { state = await ask("state", { q }); } finally { waiting = false; }
  showState();
  if (again) { again = false; refresh(); }
});

function showState() {
  say("");
  draw(state.arm);
  showFacts();
}

function showFacts() {
  state.gravity.forEach((torque, j) => {
    const joint = about.joints[j], cell = $("joints").tBodies[0].rows[j].cells[4];
    cell.firstChild.textContent = `${short(torque, 3)} ${joint.torque_unit}`;
    if (joint.torque) {
      const share = Math.abs(torque) / joint.torque, mark = cell.querySelector("i");
      mark.style.width = `${Math.min(100, 100 * share)}%`;
      mark.className = share > 1 ? "over" : "";
      cell.title = `${Math.round(100 * share)} % of ${joint.torque} ${joint.torque_unit}`;
    }
  });
  const pose = state.pose, facts = {
    "tool position": `${pose.slice(0, 3).map((row) => row[3].toFixed(4)).join(", ")} m`,
    "singular values of J": state.singular_values.map((x) => short(x, 3)).join(", "),
    "manipulability (tool position)": short(state.manipulability),
    "potential energy": `${short(state.potential_energy)} J`,
  };
  $("facts").replaceChildren(...Object.entries(facts).flatMap(([name, text]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name; dd.textContent = text;
    return [dt, dd];
  }));
  const most = Math.max(...state.mass_matrix.flat().map(Math.abs)) || 1;
  $("mass").replaceChildren(...state.mass_matrix.map((row) => {
    const line = document.createElement("tr");
    row.forEach((x) => {
      const cell = line.insertCell();
      cell.textContent = short(x, 3);
      cell.style.background = `rgba(59, 111, 212, ${0.45 * Math.abs(x) / most})`;
    });
    return line;
  }));
}

function draw(arm, trace = null) {
  const chosen = $("ellipsoid").value, ellipsoid = !film && chosen ? state.ellipsoids[chosen] || null : null;
  if (!film && chosen && !ellipsoid) say(`There is no ${chosen} ellipsoid at this configuration.`);
  view.show({ arm, size, centre, floor, ellipsoid, trace });
}

function measure(arm) {
  const points = [...arm.segments.flat(), ...arm.joints.map((joint) => joint.at)];
  const low = [0, 1, 2].map((i) => Math.min(...points.map((p) => p[i]))), high = [0, 1, 2].map((i) => Math.max(...points.map((p) => p[i])));
  size = Math.max(...high.map((x, i) => x - low[i])) || 1;
  centre = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2];
  floor = Math.min(low[2], 0);
}

// Motions ---------------------------------------------------------------------------------------------------------

function play(made, title) {
  film = made;
  film.trace = film.arms.map((arm) => [arm.tool[0][3], arm.tool[1][3], arm.tool[2][3]]);
  $("player").hidden = false;
  chart.show(film.t, film.tau, film.joints, title);
  started = performance.now(); playing = true; $("play").textContent = "Pause";
  requestAnimationFrame(step);
}

function stop() {
  if (!film) return;
  q = [...film.q[nearest(now())]];
  film = null; playing = false; $("player").hidden = true; $("chart").hidden = true; $("legend").replaceChildren();
}

const end = () => film.t[film.t.length - 1];
const now = () => Number($("time").value) / 1000 * end();
const nearest = (t) => Math.min(film.t.length - 1, Math.max(0, film.t.findIndex((x) => x >= t - 1e-12)));

function step() {
  if (!film) return;
  if (playing) $("time").value = Math.min(1000, (performance.now() - started) / end());
  const k = nearest(now());
  draw(film.arms[k], film.trace);
  showJoints(film.q[k]);
  chart.draw(film.t[k]);
  $("clock").textContent = `${film.t[k].toFixed(2)} s`;
  if (playing && Number($("time").value) >= 1000) { playing = false; $("play").textContent = "Play"; }
  if (playing) requestAnimationFrame(step); else factsOfFilm(k);
}

// While a motion plays, the numbers beside it stay; when it pauses, they are updated for that moment.
const factsOfFilm = guarded(async (k) => {
  const shown = film, found = await ask("state", { q: film.q[k] });
  if (film === shown && !playing) { state = found; showFacts(); }
});

const wanted = () => ({ q0: q, q1: target, duration: Number($("duration").value) });
const largest = (rows) => Math.max(...rows.flat().map(Math.abs));

$("plan").onclick = guarded(async () => {
  stop();
  play(await ask("motion", { ...wanted(), profile: $("profile").value }), "joint torques, N m or N");
  say(`Largest torque: ${short(largest(film.tau))} N m or N.`);
});
$("track").onclick = guarded(async () => {
  stop();
  play(await ask("simulation", { ...wanted(), payload: Number($("payload").value) }), "actuator torques, N m or N");
  say(`Largest tracking error: ${short(largest(film.error))} rad or m. ${film.detail}`);
});
$("drop").onclick = guarded(async () => {
  stop();
  play(await ask("simulation", { ...wanted(), payload: Number($("payload").value), law: "none" }), "actuator torques, N m or N");
  say(film.detail || "The actuators are off.");
});
$("here").onclick = () => { if (film) stop(); target = [...q]; showTargets(); refresh(); };
$("home").onclick = () => { view.home(); view.draw(); };
$("ellipsoid").onchange = () => { stop(); refresh(); };
$("play").onclick = () => {
  playing = !playing;
  if (playing && Number($("time").value) >= 1000) $("time").value = 0;
  if (playing) started = performance.now() - now() * 1000;
  $("play").textContent = playing ? "Pause" : "Play";
  requestAnimationFrame(step);
};
$("time").oninput = () => { playing = false; $("play").textContent = "Play"; step(); };
$("paper").ontoggle = guarded(async () => {
  if (!$("paper").open || $("paper").dataset.done) return;
  $("equations").innerHTML = (await ask("equations")).html;
  $("paper").dataset.done = "yes";
});

guarded(async () => {
  about = await ask("about");
  document.title = `${about.name}: armdyn studio`;
  $("name").textContent = about.name;
  $("source").textContent = about.source;
  const reach = about.reach === null ? "" : `Reach: ${Number(about.reach.toPrecision(4))} m. `;
  $("findings").textContent = `${reach}Check-up: ${about.findings}`;
  q = [...about.start];
  target = about.joints.map((joint, j) => Math.min(joint.upper, q[j] + (joint.upper - q[j]) * 0.3));
  for (const name of about.profiles) $("profile").append(new Option(name, name, name === "quintic", name === "quintic"));
  makeJoints();
  state = await ask("state", { q });
  measure(state.arm);
  showJoints(q);
  showState();
})();
