/** Keep a text in this tab, forget it, or answer with the one that is kept. */
export default function draw({ data, setTriggerValue }) {
  const { name, text } = unpack(data).header;
  if (text === "") sessionStorage.removeItem(name);
  else if (text !== null) sessionStorage.setItem(name, text);
  else if (sessionStorage.getItem(name)) setTriggerValue("picked", sessionStorage.getItem(name));
}
