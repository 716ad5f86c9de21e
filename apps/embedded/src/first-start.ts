import { existsSync } from 'node:fs';
import { z } from 'zod';
import { opsJson } from './ops.js';
import { readJson, writePrivateJson } from './data-folder.js';
import type { RunningStack } from './stack.js';

export interface Workspace {
  readonly workspaceId: string;
  /** Shown once; the service stores only its hash. */
  readonly apiKey: string;
}

/** Opens a workspace with a Studio plan (400 credits a month) and issues an API key for it. */
export const openWorkspace = async (environment: NodeJS.ProcessEnv, name: string): Promise<Workspace> => {
  const { workspaceId } = z
    .object({ workspaceId: z.string() })
    .parse(await opsJson(environment, ['workspace', 'create', '--name', name]));
  const [issued] = await Promise.all([
    opsJson(environment, ['key', 'issue', '--workspace', workspaceId]),
    opsJson(environment, ['plan', 'subscribe', '--workspace', workspaceId, '--plan', 'studio']),
  ]);
  return { workspaceId, apiKey: z.object({ apiKey: z.string() }).parse(issued).apiKey };
};

export interface PortalLink {
  readonly workspaceId: string;
  readonly url: string;
}

/** A link to the portal of the demo workspace, which works once. Undefined without that workspace, or without portal. */
export const demoPortalLink = async ({
  folder,
  environment,
}: RunningStack): Promise<PortalLink | undefined> => {
  if (environment['PORTAL'] !== '1' || !existsSync(folder.demoWorkspace)) return undefined;
  const { workspaceId } = z.object({ workspaceId: z.string() }).parse(readJson(folder.demoWorkspace));
  const link = await opsJson(environment, ['portal', 'link', '--workspace', workspaceId]);
  return { workspaceId, url: z.object({ url: z.string() }).parse(link).url };
};

const hasWorkspaces = async (environment: NodeJS.ProcessEnv): Promise<boolean> =>
  z.object({ workspaces: z.array(z.unknown()) }).parse(await opsJson(environment, ['workspace', 'list']))
    .workspaces.length > 0;

/** Undefined if there is one already, because its key is not stored, and beside restored data, which must not change. */
export const openDemoWorkspace = async (stack: RunningStack): Promise<Workspace | undefined> => {
  if (existsSync(stack.folder.demoWorkspace) || (await hasWorkspaces(stack.environment))) return undefined;
  const workspace = await openWorkspace(stack.environment, 'Demo workspace');
  writePrivateJson(stack.folder.demoWorkspace, { workspaceId: workspace.workspaceId });
  return workspace;
};

export const banner = (stack: RunningStack, seconds: string): string =>
  `
Ready in ${seconds} s.

  API        ${stack.baseUrl}
  Docs       ${stack.baseUrl}/docs
  Data       ${stack.folder.path} (logs in logs/)

This is an embedded single-node stack for development: one database, one event store, one worker, no replicas.
Press Ctrl-C to stop it; the data is kept.
`;

export const firstSteps = ({ baseUrl }: RunningStack, { workspaceId, apiKey }: Workspace): string => `
The demo workspace ${workspaceId} has a Studio plan with 400 credits. Its API key, shown only once:

  ${apiKey}

Try it:

  export API_KEY=${apiKey}
  export BASE_URL=${baseUrl}
  READING=$(curl -sS "$BASE_URL/api/v1/readings" -H "x-api-key: $API_KEY" -H 'content-type: application/json' -d '{"productId":"theme","profileId":"evan","locale":"en-US","name":{"firstNames":["Ada"],"middleNames":["May"],"lastNames":["Example"]},"dateOfBirth":"1990-04-12","grammaticalProfile":{"subjectGender":"feminine"}}' | sed -nE 's/.*"readingId":"([^"]+)".*/\\1/p')
  for look in 1 2 3 4 5; do curl -fsS "$BASE_URL/api/v1/readings/$READING" -H "x-api-key: $API_KEY" -H 'prefer: wait=10' | grep '"completed"' && break; sleep 1; done
  curl -fsS "$BASE_URL/api/v1/readings/$READING/document?format=pdf" -H "x-api-key: $API_KEY" -o reading.pdf
`;

/** The link works once, within 60 seconds. */
export const portalStep = (
  { folder }: Pick<RunningStack, 'folder'>,
  { workspaceId, url }: PortalLink,
): string => `The portal of the demo workspace, once within 60 seconds:

  ${url}

Another link:

  DATA_DIR='${folder.path.replaceAll("'", `'\\''`)}' npm run -s ops -- portal link --workspace ${workspaceId}
`;
