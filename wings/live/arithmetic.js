// The arithmetic of a Transformer: matrices are Float32Arrays, row by row.

const TOGETHER = 4; // how many outputs are computed at once, so that each input is read once for all of them

/**
 * Multiply rows by a transposed matrix and add a bias: (rows, I), (O, I), (O) -> (rows, O).
 * @param {Float32Array} inputs
 * @param {number} rows
 * @param {{ weight: Float32Array, bias?: Float32Array }} layer
 */
export function linear(inputs, rows, { weight, bias }) {
  const width = inputs.length / rows;
  const outputs = weight.length / width;
  const result = new Float32Array(rows * outputs);
  for (let output = 0; output < outputs; output += TOGETHER) {
    const [first, last] = [output * width, (outputs - 1) * width];
    const second = Math.min(first + width, last);
    const third = Math.min(second + width, last);
    const fourth = Math.min(third + width, last);
    for (let row = 0; row < rows; row++) {
      const from = row * width;
      let a = 0;
      let b = 0;
      let c = 0;
      let d = 0;
      for (let index = 0; index < width; index++) {
        const input = inputs[from + index];
        a += input * weight[first + index];
        b += input * weight[second + index];
        c += input * weight[third + index];
        d += input * weight[fourth + index];
      }
      const at = row * outputs + output;
      result[at] = a;
      if (output + 1 < outputs) result[at + 1] = b;
      if (output + 2 < outputs) result[at + 2] = c;
      if (output + 3 < outputs) result[at + 3] = d;
    }
  }
  if (bias) for (let at = 0; at < result.length; at++) result[at] += bias[at % outputs];
  return result;
}

/** Apply layer norm to each row (Ba et al. 2016). */
export function layerNorm(inputs, rows, { weight, bias }, epsilon) {
  const width = inputs.length / rows;
  const result = new Float32Array(inputs.length);
  for (let row = 0; row < rows; row++) {
    const values = inputs.subarray(row * width, (row + 1) * width);
    const mean = values.reduce((sum, value) => sum + value, 0) / width;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width;
    const scale = 1 / Math.sqrt(variance + epsilon);
    for (let index = 0; index < width; index++)
      result[row * width + index] = (values[index] - mean) * scale * weight[index] + bias[index];
  }
  return result;
}

export function sumOf(first, second) {
  return first.map((value, index) => value + second[index]);
}

export const ACTIVATIONS = {
  relu: (value) => Math.max(0, value),
  gelu: (value) => (value * (1 + errorFunction(value / Math.SQRT2))) / 2,
};

/** Compute the error function to 1e-12: by its series near 0, elsewhere by its continued fraction. */
function errorFunction(x) {
  const size = Math.abs(x);
  if (size > 6) return Math.sign(x);
  if (size < 3) {
    let [term, sum] = [x, x];
    for (let n = 1; Math.abs(term) > 1e-17; n++) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = size;
  for (let n = 60; n > 0; n--) fraction = size + n / 2 / fraction;
  return Math.sign(x) * (1 - Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction));
}

/** Return the logarithm of the softmax. */
export function logSoftmax(values) {
  const largest = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const sum = values.reduce((total, value) => total + Math.exp(value - largest), 0);
  return values.map((value) => value - largest - Math.log(sum));
}
