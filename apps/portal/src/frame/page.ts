import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionScope } from '#platform/auth/scopes.js';
import type { PortalSession } from '#workspaces/contracts/index.js';
import type { Texts } from '../texts/texts.js';
import type { Api, ApiProblem } from './api.js';
import type { Form } from './form.js';
import type { Formats } from './formats.js';

/** A request of a signed-in person, and what answers it. */
export interface Visit {
  readonly session: PortalSession;
  readonly api: Api;
  /** For what the API has no route for: queries and commands of contracts, with the session's workspace and mode. */
  readonly queries: Pick<QueryBus, 'execute'>;
  readonly commands: Pick<CommandBus, 'execute'>;
  readonly texts: Texts;
  readonly formats: Formats;
  /** The path of the page, with its parameters filled in, as `/portal/readings`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly may: (scope: SessionScope) => boolean;
  /** Counts what the answer costs as so many requests of the policy `read`, before it is made. */
  readonly charge: (requests: number) => Promise<void>;
  /** The workspace and the mode of the session. What a form of another one asks for is not done here. */
  readonly place: string;
}

/** What a page shows inside the frame. */
export interface View {
  readonly title: string;
  readonly body: ComponentChildren;
  /** The browser loads the page again after so many seconds: for what is under way. */
  readonly refreshSeconds?: number | undefined;
}

/** Leads to another page, which shows the text of the catalogue's `done` once. */
export interface GoTo {
  readonly goTo: string;
  readonly done?: keyof Texts['done'];
}

/** Something to save or to look at: bytes, or parts of a text as they are made. */
export interface Download {
  readonly content: Buffer | AsyncIterable<string>;
  readonly mediaType: string;
  readonly fileName: string;
}

export type Answer = View | GoTo | Download;

/** An action or filters that the API refused: the page shows the form again, with what was typed. */
export interface Failed {
  readonly form: Form;
  readonly refused: ApiProblem;
}

/** The entries of the navigation. */
export type Area = keyof Texts['areas'];

export interface Page {
  /** Below `/portal`, in the syntax of Express. */
  readonly path: string;
  readonly area: Area;
  /** Without this scope, the page and its entry in the navigation do not exist for the session. */
  readonly needs?: SessionScope;
  readonly show: (visit: Visit, failed?: Failed) => Promise<Answer>;
  /** By the name that a `<PostForm>` sends. */
  readonly actions?: Readonly<Record<string, (visit: Visit, form: Form) => Promise<Answer>>>;
}

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

/** The visit to a page of the portal, which knows more than that to another site. */
export const usePortal = (): Visit => useShown().visit as Visit;
