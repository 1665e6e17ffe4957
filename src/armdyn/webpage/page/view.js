"use strict";
// The arm on a canvas: orthographic-like perspective, parts drawn from far to near.

// Half of the canvas over the radius of the scene: the perspective makes what is near larger by up to a fifth.
const MARGIN = 1.1;

class View {
  constructor(canvas) {
    this.canvas = canvas;
    this.home();
    this.scene = null;
    canvas.addEventListener("pointerdown", (event) => { this.held = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { this.held = null; });
    canvas.addEventListener("pointermove", (event) => this.turn(event));
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom *= Math.exp(-event.deltaY * 0.001); this.draw(); }, { passive: false });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  home() { this.azimuth = -0.9; this.elevation = 0.35; this.zoom = 1; }

  turn(event) {
    if (!this.held) return;
    this.azimuth -= (event.clientX - this.held[0]) * 0.008;
    this.elevation = Math.max(-1.5, Math.min(1.5, this.elevation + (event.clientY - this.held[1]) * 0.008));
    this.held = [event.clientX, event.clientY];
    this.draw();
  }

  show(scene) { this.scene = scene; this.draw(); }

  // World -> [x, y on the canvas, depth].
  project(p) {
    const [x, y, z] = [p[0] - this.centre[0], p[1] - this.centre[1], p[2] - this.centre[2]];
    const ca = Math.cos(this.azimuth), sa = Math.sin(this.azimuth), ce = Math.cos(this.elevation), se = Math.sin(this.elevation);
    const right = -sa * x + ca * y, forward = ca * x + sa * y;
    const depth = ce * forward + se * z, up = -se * forward + ce * z;
    const scale = this.scale * 6 / (6 - depth / this.size);
    return [this.width / 2 + right * scale, this.height / 2 - up * scale, depth, scale];
  }

  draw() {
    if (!this.scene) return;
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    this.canvas.width = box.width * ratio; this.canvas.height = box.height * ratio;
    this.width = box.width; this.height = box.height;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineCap = "round";
    const { arm, size, centre, palette } = this.scene;
    this.size = size; this.centre = centre;
    this.scale = this.zoom * 0.5 * Math.min(this.width, this.height) / (MARGIN * size);
    const ink = getComputedStyle(document.body).color;
    this.floor(pen, ink);
    const parts = [];
    const thick = 0.035 * size;
    this.foot(pen, this.scene.base, thick, palette.base);
    const add = (a, b, color, width) => {
      const [p, r] = [this.project(a), this.project(b)];
      parts.push({ p, r, color, width: width * (p[3] + r[3]) / 2, depth: (p[2] + r[2]) / 2 });
    };
    for (const [a, b] of arm.segments) add(a, b, palette.link, thick);
    for (const joint of arm.joints) {
      const end = (sign) => joint.at.map((x, i) => x + sign * 1.3 * thick * joint.axis[i]);
      add(end(-1), end(1), palette[joint.kind], 2 * thick);
    }
    parts.sort((a, b) => a.depth - b.depth);
    for (const { p, r, color, width } of parts) this.stroke(pen, p, r, color, width);
    this.frame(pen, arm.tool, 0.16 * size, palette.axes);
    if (this.scene.ellipsoid) this.ellipsoid(pen, arm.tool, this.scene.ellipsoid, 0.4 * size);
    if (this.scene.trace) this.path(pen, this.scene.trace);
  }

  stroke(pen, p, r, color, width) {
    pen.strokeStyle = "#00000030"; pen.lineWidth = width + 2;
    this.line(pen, p, r);
    pen.strokeStyle = color; pen.lineWidth = width;
    this.line(pen, p, r);
    pen.strokeStyle = "#ffffff50"; pen.lineWidth = width * 0.3;
    this.line(pen, [p[0] - width * 0.15, p[1] - width * 0.18], [r[0] - width * 0.15, r[1] - width * 0.18]);
  }

  line(pen, a, b) { pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.stroke(); }

  floor(pen, ink) {
    const half = 1.4 * this.size, z = this.scene.floor;
    pen.strokeStyle = ink; pen.globalAlpha = 0.13; pen.lineWidth = 1;
    for (let k = -5; k <= 5; k++) {
      const t = half * k / 5;
      const at = (x, y) => this.project([this.centre[0] + x, this.centre[1] + y, z]);
      this.line(pen, at(t, -half), at(t, half));
      this.line(pen, at(-half, t), at(half, t));
    }
    pen.globalAlpha = 1;
  }

  // The disc on which the arm stands, in slices from below.
  foot(pen, base, thick, color) {
    for (let k = 4; k >= 0; k--) {
      pen.fillStyle = color; pen.beginPath();
      for (let s = 0; s < 48; s++) {
        const turn = s * Math.PI / 24;
        const p = this.project([base[0] + 3 * thick * Math.cos(turn), base[1] + 3 * thick * Math.sin(turn), base[2] - thick * k / 4]);
        if (s) pen.lineTo(p[0], p[1]); else pen.moveTo(p[0], p[1]);
      }
      pen.fill();
      if (k) { pen.fillStyle = "#00000030"; pen.fill(); }
    }
  }

  frame(pen, tool, length, colors) {
    const at = [tool[0][3], tool[1][3], tool[2][3]], start = this.project(at);
    colors.forEach((color, axis) => {
      const end = this.project(at.map((x, i) => x + length * tool[i][axis]));
      pen.strokeStyle = color; pen.lineWidth = 3;
      this.line(pen, start, end);
    });
  }

  // Three rings of the ellipsoid around the tool, the longest half axis drawn at a fixed size.
  ellipsoid(pen, tool, { axes, centre }, length) {
    const norms = axes.map((v) => Math.hypot(...v)), longest = Math.max(...norms, Math.hypot(...centre));
    if (!(longest > 0)) return;
    const k = length / longest, at = [0, 1, 2].map((i) => tool[i][3] + k * centre[i]);
    pen.strokeStyle = "#8a5cc2"; pen.lineWidth = 1.6;
    for (let i = 0; i < axes.length; i++) for (let j = i + 1; j < axes.length; j++) {
      pen.beginPath();
      for (let s = 0; s <= 64; s++) {
        const c = k * Math.cos(s * Math.PI / 32), d = k * Math.sin(s * Math.PI / 32);
        const p = this.project(at.map((x, m) => x + c * axes[i][m] + d * axes[j][m]));
        if (s) pen.lineTo(p[0], p[1]); else pen.moveTo(p[0], p[1]);
      }
      pen.stroke();
    }
  }

  path(pen, points) {
    pen.strokeStyle = "#e58a3c"; pen.lineWidth = 1.6; pen.setLineDash([5, 4]); pen.beginPath();
    points.forEach((point, k) => { const p = this.project(point); if (k) pen.lineTo(p[0], p[1]); else pen.moveTo(p[0], p[1]); });
    pen.stroke(); pen.setLineDash([]);
  }
}

// Curves over time with a mark at the present time.
class Chart {
  constructor(canvas, legend) { this.canvas = canvas; this.legend = legend; this.colors = ["#3b6fd4", "#e58a3c", "#2a9d8f", "#d64545", "#8a5cc2", "#6b7280", "#b8860b", "#1f9bd1", "#c2528b", "#4d7c0f"]; new ResizeObserver(() => this.draw(this.now)).observe(canvas); }

  show(t, rows, names, title) {
    this.t = t; this.rows = rows; this.title = title; this.canvas.hidden = false;
    this.legend.replaceChildren(...names.map((name, k) => {
      const entry = document.createElement("span"), mark = document.createElement("i");
      mark.style.borderColor = this.colors[k % this.colors.length];
      entry.append(mark, name);
      return entry;
    }));
    this.draw(t[0]);
  }

  draw(now) {
    if (!this.t || this.canvas.hidden) return;
    this.now = now;
    const ratio = window.devicePixelRatio || 1, box = this.canvas.getBoundingClientRect();
    this.canvas.width = box.width * ratio; this.canvas.height = box.height * ratio;
    const pen = this.canvas.getContext("2d"), left = 58, bottom = 26, top = 22, w = box.width - left - 8, h = box.height - bottom - top;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const ink = getComputedStyle(document.body).color;
    const flat = this.rows.flat().filter(Number.isFinite);
    let low = Math.min(...flat, 0), high = Math.max(...flat, 0);
    if (low === high) { low -= 1; high += 1; }
    const x = (t) => left + w * (t - this.t[0]) / (this.t[this.t.length - 1] - this.t[0]);
    const y = (v) => top + h * (high - v) / (high - low);
    pen.fillStyle = ink; pen.font = "12px system-ui, sans-serif"; pen.textAlign = "left"; pen.fillText(this.title, left, 14);
    pen.strokeStyle = ink; pen.lineWidth = 1;
    for (const v of [low, 0, high]) {
      pen.globalAlpha = 0.2; pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(left + w, y(v)); pen.stroke(); pen.globalAlpha = 0.8;
      pen.textAlign = "right"; pen.fillText(Number(v.toPrecision(3)), left - 6, y(v) + 4);
    }
    pen.textAlign = "left"; pen.fillText(`${this.t[0]} s`, left, box.height - 8);
    pen.textAlign = "right"; pen.fillText(`${Number(this.t[this.t.length - 1].toPrecision(4))} s`, left + w, box.height - 8);
    pen.globalAlpha = 1;
    for (let j = 0; j < this.rows[0].length; j++) {
      pen.strokeStyle = this.colors[j % this.colors.length]; pen.lineWidth = 1.7; pen.beginPath();
      this.rows.forEach((row, k) => { if (k) pen.lineTo(x(this.t[k]), y(row[j])); else pen.moveTo(x(this.t[k]), y(row[j])); });
      pen.stroke();
    }
    pen.strokeStyle = ink; pen.globalAlpha = 0.5; pen.beginPath(); pen.moveTo(x(now), top); pen.lineTo(x(now), top + h); pen.stroke(); pen.globalAlpha = 1;
  }
}
