// The page of one robot: sliders, torques, and simulation in the browser.
const bytes = Uint8Array.from(atob(BINARY), (letter) => letter.charCodeAt(0));
const arm = robot((await WebAssembly.instantiate(bytes, {})).instance);
const find = (id) => document.getElementById(id);
const axes = ROBOT.axes, n = axes.length, zeros = new Array(n).fill(0);
const view = new View(find("view")), chart = new Chart(find("chart"), find("legend"));
const upright = uprightRotation(ROBOT.gravity);
let q = [...ROBOT.start], target = [...ROBOT.start], film = null, playing = 0;

// A rotation that turns the direction of gravity to -z, so that the arm stands as it does in its world.
function uprightRotation(gravity) {
  const size = Math.hypot(...gravity);
  if (!size) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const z = gravity.map((x) => -x / size), start = Math.abs(z[2]) > 0.9 ? [1, 0, 0] : Math.abs(z[1]) > 0.9 ? [1, 0, 0] : [0, 0, 1];
  const along = start[0] * z[0] + start[1] * z[1] + start[2] * z[2];
  const x = start.map((value, i) => value - along * z[i]), length = Math.hypot(...x);
  const u = x.map((value) => value / length), v = [z[1] * u[2] - z[2] * u[1], z[2] * u[0] - z[0] * u[2], z[0] * u[1] - z[1] * u[0]];
  return [u, v, z];
}
const turned = (p) => upright.map((row) => row[0] * p[0] + row[1] * p[1] + row[2] * p[2]);

// The scene -----------------------------------------------------------------------------------------------------------

function scene(at) {
  const all = arm.closed ? arm.closed(at) : at, poses = arm.link_poses(all);
  const point = (link, p) => turned(link < 0 ? p : [0, 1, 2].map((i) => poses[link][4 * i] * p[0] + poses[link][4 * i + 1] * p[1] + poses[link][4 * i + 2] * p[2] + poses[link][4 * i + 3]));
  const [link, T] = ROBOT.scene.tool, origin = point(link, T.map((row) => row[3]));
  const columns = [0, 1, 2].map((k) => { const tip = point(link, T.map((row) => row[3] + row[k])); return tip.map((x, i) => x - origin[i]); });
  const tool = [0, 1, 2].map((i) => [columns[0][i], columns[1][i], columns[2][i], origin[i]]);
  const joints = ROBOT.scene.joints.map(([kind, k, p, axis]) => {
    const place = point(k, p), tip = point(k, p.map((x, i) => x + axis[i]));
    return { kind, at: place, axis: tip.map((x, i) => x - place[i]) };
  });
  const segments = ROBOT.scene.segments.map(([a, p, b, r]) => [point(a, p), point(b, r)]);
  return { arm: { joints, segments, tool }, palette: ROBOT.scene.palette, ...sphere([origin, ...segments.flat()]), base: turned(ROBOT.scene.base), floor: lowest[2] };
}

// A sphere around all that was shown so far: the camera moves back for an arm that leaves it, and stays.
let lowest = turned(ROBOT.scene.base), highest = lowest;
function sphere(points) {
  lowest = lowest.map((x, i) => Math.min(x, ...points.map((p) => p[i])));
  highest = highest.map((x, i) => Math.max(x, ...points.map((p) => p[i])));
  return { centre: lowest.map((x, i) => (x + highest[i]) / 2), size: Math.hypot(...lowest.map((x, i) => highest[i] - x)) / 2 || 1 };
}

const shown = (k, value) => axes[k].unit === "rad" && find("unit").value === "deg" ? `${(value * 180 / Math.PI).toFixed(1)}°` : `${value.toFixed(3)} ${axes[k].unit}`;
// Numbers of a table; what is rounding beside the largest is zero.
const clean = (values) => { const least = 1e-12 * Math.max(...values.map(Math.abs)); return values.map((x) => (Math.abs(x) < least ? 0 : x)); };
const plain = (x) => String(Number(x.toPrecision(4)));
const short = (x) => x === 0 ? "0" : Math.abs(x) >= 1e4 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(2) : x.toFixed(Math.abs(x) < 10 ? 3 : 1);

function show(at) {
  try { view.show(scene(at)); } catch (error) { say(error.message, true); return; }
  const hold = clean([...arm.inverse_dynamics(at, zeros, zeros)]), M = arm.mass_matrix(at);
  axes.forEach((axis, k) => {
    const row = find("joints").tBodies[0].rows[k];
    row.cells[1].textContent = shown(k, at[k]);
    row.cells[2].firstChild.value = at[k];
    const over = axis.torque !== null && Math.abs(hold[k]) > axis.torque;
    row.cells[3].textContent = `${short(hold[k])} ${axis.torque_unit}` + (axis.torque === null ? "" : ` of ${plain(axis.torque)}`);
    row.cells[3].className = over ? "number over" : "number";
  });
  find("mass").replaceChildren(...M.map((values) => {
    const row = document.createElement("tr");
    values.forEach((x) => { row.insertCell().textContent = short(x); });
    return row;
  }));
}

function say(text, bad = false) { find("message").textContent = text; find("message").className = bad ? "bad" : ""; }

// Simulation: Runge-Kutta of order 4, torques held over each step -----------------------------------------------------

export function simulate(law, q0, goal, { duration = 5, dt = 1e-3, bandwidth = 10 } = {}) {
  const kp = bandwidth ** 2, kd = 2 * bandwidth, steps = Math.round(duration / dt), every = Math.max(1, Math.round(steps / 600));
  const inertias = arm.mass_matrix(ROBOT.start).map((row, i) => row[i]), wanted = new Float64Array(n);
  const torques = {
    none: () => zeros,
    gravity: (x) => arm.inverse_dynamics(x, zeros, zeros),
    pd: (x, v) => {
      const tau = arm.inverse_dynamics(x, zeros, zeros);
      for (let i = 0; i < n; i++) tau[i] += inertias[i] * (kp * (goal[i] - x[i]) - kd * v[i]);
      return tau;
    },
    computed: (x, v) => {
      for (let i = 0; i < n; i++) wanted[i] = kp * (goal[i] - x[i]) - kd * v[i];
      return arm.inverse_dynamics(x, v, wanted);
    },
  }[law];
  const x = Float64Array.from(q0), v = new Float64Array(n), xs = new Float64Array(n), vs = new Float64Array(n);
  const dx = new Float64Array(n), dv = new Float64Array(n), stages = [[dt / 2, 1], [dt / 2, 2], [dt, 2], [0, 1]];
  const made = { t: [], q: [], tau: [], energy: [] };
  for (let k = 0; k <= steps; k++) {
    const tau = torques(x, v);
    if (k % every === 0 || k === steps) {
      made.t.push(k * dt); made.q.push([...x]); made.tau.push([...tau]);
      const T = arm.kinetic_energy(x, v), U = arm.potential_energy(x);
      made.energy.push([T, U, T + U]);
    }
    xs.set(x); vs.set(v); dx.fill(0); dv.fill(0);
    for (const [next, weight] of stages) {
      const a = arm.forward_dynamics(xs, vs, tau);
      for (let i = 0; i < n; i++) {
        dx[i] += weight * vs[i]; dv[i] += weight * a[i];
        xs[i] = x[i] + next * vs[i]; vs[i] = v[i] + next * a[i];
      }
    }
    for (let i = 0; i < n; i++) { x[i] += dt / 6 * dx[i]; v[i] += dt / 6 * dv[i]; }
    if (!x.every((value) => Math.abs(value) < 1e6) || !v.every((value) => Math.abs(value) < 1e6))
      return { ...made, problem: `The motion became unstable after ${(k * dt).toFixed(3)} s: damping or gains are too fast for steps of ${dt * 1e3} ms.` };
  }
  return made;
}

function run() {
  const length = Math.min(60, Math.max(0.1, Number(find("duration").value) || 5)), law = find("law").value;
  const begun = performance.now();
  try { film = simulate(law, q, target, { duration: length, bandwidth: Number(find("bandwidth").value) }); }
  catch (error) { say(error.message, true); return; }
  const took = (performance.now() - begun) / 1e3, reached = film.t[film.t.length - 1];
  if (film.problem) say(film.problem, true);
  else if (law === "pd" || law === "computed") {
    const last = film.q[film.q.length - 1], errors = last.map((x, k) => Math.abs(x - target[k])), worst = errors.indexOf(Math.max(...errors));
    say(`Largest error at the end: ${shown(worst, errors[worst])} at ${axes[worst].name}. Computed in ${took.toFixed(2)} s.`);
  } else say(`${reached.toFixed(2)} s of motion, computed in ${took.toFixed(2)} s.`);
  film.q.forEach(scene);  // the camera takes in the whole motion at once
  find("player").hidden = false;
  curves();
  play(0);
}

function curves() {
  if (!film) return;
  const kind = find("curves").value, degrees = find("unit").value === "deg";
  const names = kind === "energy" ? ["kinetic", "potential", "total"] : axes.map((axis) => axis.name);
  const scale = (k) => kind === "q" && degrees && axes[k].unit === "rad" ? 180 / Math.PI : 1;
  const title = { q: degrees ? "position, degrees or m" : "position, rad or m", tau: "torque, N m or N", energy: "energy, J" }[kind];
  chart.show(film.t, film[kind].map((row) => row.map((x, k) => kind === "energy" ? x : x * scale(k))), names, title);
}

// Playing -------------------------------------------------------------------------------------------------------------

function frameAt(share) {
  const k = Math.min(film.t.length - 1, Math.round(share * (film.t.length - 1)));
  q = [...film.q[k]];
  show(q);
  chart.draw(film.t[k]);
  find("clock").textContent = `${film.t[k].toFixed(2)} s`;
  find("time").value = 1000 * share;
}

function play(share) {
  cancelAnimationFrame(playing);
  find("play").textContent = "Pause";
  const length = film.t[film.t.length - 1] * 1e3, begun = performance.now() - share * length;
  const step = (now) => {
    const at = Math.min(1, Math.max(0, (now - begun) / length));
    frameAt(at);
    if (at < 1) playing = requestAnimationFrame(step); else stop();
  };
  playing = requestAnimationFrame(step);
}

function stop() {
  if (playing) { cancelAnimationFrame(playing); playing = 0; tell(); }
  find("play").textContent = "Play";
}

// Inside a frame, such as a notebook's: the configuration goes both ways.
function tell(what = { armdyn: "moved", q: [...q] }) { if (window.parent !== window) window.parent.postMessage(what, "*"); }
window.addEventListener("message", (event) => {
  const given = event.data?.armdyn === "move" ? event.data.q : null;
  if (event.source !== window.parent || !Array.isArray(given) || given.length !== n || !given.every(Number.isFinite)) return;
  stop();
  q = [...given];
  show(q);
});

// Controls ------------------------------------------------------------------------------------------------------------

axes.forEach((axis, k) => {
  const row = find("joints").tBodies[0].insertRow(), slider = document.createElement("input");
  row.insertCell().textContent = axis.name;
  row.cells[0].title = axis.name;
  row.insertCell().className = "number";
  Object.assign(slider, { type: "range", min: axis.lower, max: axis.upper, step: (axis.upper - axis.lower) / 1000, value: q[k], ariaLabel: axis.name });
  slider.addEventListener("input", () => { stop(); q[k] = Number(slider.value); show(q); tell(); });
  row.insertCell().append(slider);
  row.insertCell().className = "number";
});
find("about").textContent = ROBOT.source;
find("model").textContent = `${ROBOT.model} Made by armdyn ${ROBOT.version}; the computation runs in this page.`;
find("down").textContent = Math.hypot(...ROBOT.gravity) ? `↓ gravity ${plain(Math.hypot(...ROBOT.gravity))} m/s²` : "no gravity";
const omega = () => { find("omega").textContent = `${find("bandwidth").value} rad/s`; };
find("bandwidth").addEventListener("input", omega);
find("unit").addEventListener("change", () => { show(q); curves(); });
find("curves").addEventListener("change", curves);
find("target").addEventListener("click", () => { target = [...q]; say("The target is this configuration."); });
find("home").addEventListener("click", () => { stop(); q = [...ROBOT.start]; show(q); tell(); });
find("run").addEventListener("click", run);
find("play").addEventListener("click", () => { if (playing) stop(); else { const at = Number(find("time").value) / 1000; play(at < 1 ? at : 0); } });
find("time").addEventListener("input", () => { stop(); frameAt(Number(find("time").value) / 1000); });
omega();
show(q);
tell({ armdyn: "ready" });
window.armdyn = { robot: arm, simulate };
