import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Failed, Visit } from './page.js';

/** What the parts of a page share: the visit, and the form that the API refused. */
export interface Shown {
  readonly visit: Visit;
  readonly failed?: Failed | undefined;
}

export const ShownContext = createContext<Shown | null>(null);

export const useShown = (): Shown => {
  const shown = useContext(ShownContext);
  if (!shown) throw new TypeError('This part belongs inside a page of the portal');
  return shown;
};

export const useVisit = (): Visit => useShown().visit;
