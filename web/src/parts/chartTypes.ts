// What a chart shows.
export type Series = {
  name: string;
  /** One value per place on the axis; null where nothing is known. */
  values: readonly (number | null)[];
  /** As a bar in a chart of lines, e.g. failures. */
  bar?: boolean;
};

export type ChartProps = {
  /** `line`: over time or another axis; `bar`: side by side; `stacked`: on top of one another, lying down. */
  kind: 'line' | 'bar' | 'stacked';
  /** The places on the axis: epoch in ms for times, else words. */
  axis: readonly (number | string)[];
  series: readonly Series[];
  /** What the chart shows, in a sentence, for those who cannot see it. */
  label: string;
  /** Heading of the axis' column in the table view. */
  axisName: string;
  /** How a value is written: "1.2 s". */
  format?: (value: number) => string;
  height?: number;
  /** A place on the axis was chosen. */
  onPick?: (index: number) => void;
};
