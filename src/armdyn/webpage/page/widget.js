// A page to share inside a notebook: in a frame of its own, its configuration tied to `q` of the widget.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = model.get("name");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 1px solid #8884; border-radius: 6px;`;
  frame.srcdoc = model.get("page");
  el.append(frame);
  let known = "";
  const heard = (event) => {
    if (event.source !== frame.contentWindow) return;
    if (event.data?.armdyn === "ready") move();
    if (event.data?.armdyn !== "moved") return;
    known = JSON.stringify(event.data.q);
    model.set("q", event.data.q);
    model.save_changes();
  };
  const move = () => {
    const q = model.get("q");
    if (JSON.stringify(q) !== known) frame.contentWindow?.postMessage({ armdyn: "move", q }, "*");
  };
  window.addEventListener("message", heard);
  model.on("change:q", move);
  return () => { window.removeEventListener("message", heard); model.off("change:q", move); };
}
export default { render };
