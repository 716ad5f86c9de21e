import { existsSync } from 'node:fs';
import { z } from 'zod';
import { opsJson } from './ops.js';
import { readJson, writePrivateJson } from './private-file.js';
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

/**
 * Opens the demo workspace of a new data folder. Undefined if it already exists, because its key is not stored, and
 * beside restored data, which must not change.
 */
export const openDemoWorkspace = async (stack: RunningStack): Promise<Workspace | undefined> => {
  if (existsSync(stack.folder.demoWorkspace) || (await hasWorkspaces(stack.environment))) return undefined;
  const workspace = await openWorkspace(stack.environment, 'Demo workspace');
  writePrivateJson(stack.folder.demoWorkspace, { workspaceId: workspace.workspaceId });
  return workspace;
};
