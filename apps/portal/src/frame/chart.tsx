const WIDTH = 480;
const HEIGHT = 120;
const GAP = 3;

export interface Bar {
  /** Said on hover. */
  readonly label: string;
  /** Stacked from below: at most two. */
  readonly values: readonly number[];
}

/** Bars, for the eye. A table beside them has the same figures. @param label says what they show in all */
export const BarChart = ({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) => {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const scale = HEIGHT / Math.max(1, ...sums);
  const step = WIDTH / bars.length;
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`} role="img" aria-label={label}>
      {bars.map(({ label: said, values }, at) => {
        let below = 0;
        return (
          <g>
            <title>{said}</title>
            {values.map((value, kind) => {
              const height = value * scale;
              below += height;
              return (
                value > 0 && (
                  <rect
                    class={kind === 0 ? 'bar' : 'bar second'}
                    x={at * step}
                    y={HEIGHT - below}
                    width={step - GAP}
                    height={height}
                  />
                )
              );
            })}
          </g>
        );
      })}
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
    </svg>
  );
};
