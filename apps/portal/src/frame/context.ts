import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Failed, Visit } from './page.js';

/** What the parts of a page know of a visit, whatever site it is to. */
export type Visited = Pick<Visit, 'texts' | 'formats' | 'path' | 'query'> & Partial<Pick<Visit, 'place'>>;

/** What the parts of a page share: the visit, and the form that was refused. */
export interface Shown {
  readonly visit: Visited;
  readonly failed?: Failed | undefined;
}

export const ShownContext = createContext<Shown | null>(null);

export const useShown = (): Shown => {
  const shown = useContext(ShownContext);
  if (!shown) throw new TypeError('This part belongs inside a page');
  return shown;
};

export const useVisit = (): Visited => useShown().visit;
