// The part of the whole that each measured product makes up, by the server's rule: value / sum, and 0 where the sum
// is 0. The server works it out again and keeps its own; this is what the page shows while somebody types.

/** The sum as if added without rounding, rounded once at the end; so it is the server's to the last digit. */
export function exactSum(values: readonly number[]): number {
  const parts: number[] = [];
  for (const value of values) {
    let high = value;
    let kept = 0;
    for (const part of parts) {
      const [large, small] = Math.abs(high) < Math.abs(part) ? [part, high] : [high, part];
      high = large + small;
      const lost = small - (high - large);
      if (lost !== 0) parts[kept++] = lost;
    }
    parts.length = kept;
    parts.push(high);
  }
  return rounded(parts);
}

/** Parts do not overlap and grow in size: the largest two decide, and the third where the second is half a unit. */
function rounded(parts: readonly number[]): number {
  let at = parts.length - 1;
  if (at < 0) return 0;
  let sum = parts[at] ?? 0;
  let lost = 0;
  while (at > 0 && lost === 0) {
    at -= 1;
    const before = sum;
    const part = parts[at] ?? 0;
    sum = before + part;
    lost = part - (sum - before);
  }
  const next = at > 0 ? (parts[at - 1] ?? 0) : 0;
  if (lost * next > 0) {
    const twice = lost * 2;
    const above = sum + twice;
    if (above - sum === twice) return above;
  }
  return sum;
}

export function fractions(values: readonly number[]): number[] {
  const whole = exactSum(values);
  return values.map((value) => (whole > 0 ? value / whole : 0));
}
