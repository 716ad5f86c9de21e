export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly aim: string;
  readonly met: boolean;
}
export type AddRow = (row: Row) => void;
