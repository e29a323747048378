/** Tell the grid on the page which map is selected, and hand on the one that is clicked in it. */
export default function draw({ data, setTriggerValue }) {
  const { place } = unpack(data).header;
  const selected = { place, pick: (clicked) => setTriggerValue("picked", clicked) };
  window.headlightSelected = selected;
  dispatchEvent(new Event("headlight-selected"));
  return () => {
    if (window.headlightSelected === selected) window.headlightSelected = undefined;
  };
}
