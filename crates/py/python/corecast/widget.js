// SPDX-License-Identifier: MIT OR Apache-2.0
// A view in a notebook (anywidget's interface): the page in a frame of its own, with its address and the
// widget's kept the same. The page's side is viewer/src/host.ts.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "corecast";
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 1px solid #8884`;
  frame.srcdoc = model.get("page");
  let said = null;
  const tell = () => {
    if (model.get("address") === said) return;
    frame.contentWindow?.postMessage({ corecastView: model.get("address") }, "*");
  };
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || typeof data?.corecastView !== "string") return;
    said = data.corecastView;
    model.set("address", said);
    model.save_changes();
  };
  frame.addEventListener("load", tell);
  window.addEventListener("message", hear);
  model.on("change:address", tell);
  model.on("change:height", () => { frame.style.height = `${model.get("height")}px`; });
  el.append(frame);
  return () => window.removeEventListener("message", hear);
}
export default { render };
