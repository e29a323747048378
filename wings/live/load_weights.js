/**
 * Load a file of weights. A page from a web server fetches it. A page from the disk runs a script
 * that calls `headlightWeights` with the file in base64. Without addresses, the weights are in the document.
 * @param {{ file: string, script: string }} from
 * @param {(share: number | null) => void} tell called with the share loaded so far, from 0 to 1; null if the size is not known
 * @returns {Promise<Uint8Array>}
 */
export async function loadWeights({ file, script }, tell) {
  if (!file) return bytesOf([...document.querySelectorAll("script.weights")].map((piece) => piece.textContent).join(""));
  if (location.protocol === "file:") return byScript(script);
  const response = await fetch(file);
  if (!response.ok) throw new Error(String(response.status));
  const size = Number(response.headers.get("content-length"));
  const parts = [];
  let come = 0;
  const reader = response.body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    come += part.value.length;
    tell(size ? come / size : null);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function byScript(address) {
  return new Promise((resolve, reject) => {
    window["headlightWeights"] = (text) => resolve(bytesOf(text));
    const script = document.createElement("script");
    script.src = address;
    script.onerror = reject;
    document.head.append(script);
  });
}

/** Return the bytes that a text in base64 holds. */
function bytesOf(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}
