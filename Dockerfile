# One image for each process: docker build --target api|worker|console|operator|simulator .

# By digest, so that the same commit makes the same images; it stands for linux/amd64 and linux/arm64, which the workflow checks.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS base
WORKDIR /app

# Only the files that decide the packages, so that a change of the code does not install them again.
FROM base AS manifests
COPY package.json package-lock.json .npmrc ./
COPY apps/api/package.json apps/api/
COPY apps/cli/package.json apps/cli/
COPY apps/console/package.json apps/console/
COPY apps/worker/package.json apps/worker/
COPY packages/code-samples/package.json packages/code-samples/
COPY packages/domain/package.json packages/domain/
COPY packages/runtime/package.json packages/runtime/
COPY packages/simulator/package.json packages/simulator/
COPY packages/store/package.json packages/store/
COPY packages/whatsapp/package.json packages/whatsapp/

FROM manifests AS build
COPY packages/client/package.json packages/client/
COPY apps/docs/package.json apps/docs/
COPY packages/testing/package.json packages/testing/
RUN npm install --no-save --include=dev
COPY . .
# What processes tell as their commit: there is no history here.
ARG COMMIT
RUN npm run build

# For each image the packages of its process alone. Without development packages, and without their names: Prisma's command line is an
# optional peer of its client, and npm would keep it as long as any package.json names it.
FROM manifests AS production
RUN npm pkg delete devDependencies
# Prisma brings its compiler for every database, in two sizes: 70 MB that nothing reads.
ENV PRUNE="find node_modules/@prisma/client/runtime -name query_compiler_* -not -name query_compiler_small_bg.postgresql.* -delete"

FROM production AS production-api
RUN npm install --no-save --omit=dev --omit=peer -w apps/api && $PRUNE

FROM production AS production-worker
RUN npm install --no-save --omit=dev --omit=peer -w apps/worker && $PRUNE

FROM production AS production-console
RUN npm install --no-save --omit=dev --omit=peer -w apps/console && $PRUNE

FROM production AS production-operator
RUN npm install --no-save --omit=dev --omit=peer -w apps/cli && $PRUNE

FROM production AS production-simulator
RUN npm install --no-save --omit=dev --omit=peer -w packages/simulator

FROM base AS runtime
# Metrics are for the container's network, by IPv4 and IPv6; they are on no port of the machine unless one is published.
ENV NODE_ENV=production METRICS_PORT=9090 METRICS_HOST=::
# V8 reads the code that it compiled while the image was built, which saves a fifth of the CPU time of a start.
ENV NODE_COMPILE_CACHE=/home/node/.cache/compiled
COPY LICENSE NOTICE ./
USER node
EXPOSE 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["node", "-e", \
  "fetch(`http://localhost:${process.env.METRICS_PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]

# What all services share. They look at the migrations to tell whether they can work with the schema.
FROM runtime AS service
COPY prisma/migrations prisma/migrations
COPY --from=build /app/packages/domain/dist packages/domain/dist
COPY --from=build /app/packages/runtime/dist packages/runtime/dist
COPY --from=build /app/packages/store/dist packages/store/dist
COPY --from=build /app/packages/whatsapp/dist packages/whatsapp/dist

FROM service AS api
COPY --from=production-api /app ./
COPY --from=build /app/apps/api/dist apps/api/dist
COPY --from=build /app/apps/docs/dist apps/docs/dist
EXPOSE 3000
RUN ["node", "--input-type=module", "-e", "await import('/app/apps/api/dist/app.js')"]
CMD ["node", "apps/api/dist/main.js"]

FROM service AS worker
COPY --from=production-worker /app ./
COPY --from=build /app/apps/worker/dist apps/worker/dist
RUN ["node", "--input-type=module", "-e", "await import('/app/apps/worker/dist/loops.js')"]
CMD ["node", "apps/worker/dist/main.js"]

FROM service AS console
COPY --from=production-console /app ./
COPY --from=build /app/packages/code-samples/dist packages/code-samples/dist
COPY --from=build /app/apps/console/dist apps/console/dist
# What the queue board says.
COPY apps/console/web/src/locales apps/console/web/src/locales
EXPOSE 3001
RUN ["node", "--input-type=module", "-e", "await import('/app/apps/console/dist/app.js')"]
CMD ["node", "apps/console/dist/main.js"]

# The migrations, and the operator's command line: node apps/cli/dist/main.js --help
FROM service AS operator
COPY --from=production-operator /app ./
HEALTHCHECK NONE
COPY --from=build /app/apps/cli/dist apps/cli/dist
CMD ["node", "packages/store/dist/migrate.js"]

FROM runtime AS simulator
COPY --from=production-simulator /app ./
COPY packages/simulator/public packages/simulator/public
COPY --from=build /app/packages/simulator/dist packages/simulator/dist
ENV HOST=:: PORT=4010
EXPOSE 4010
CMD ["node", "packages/simulator/dist/main.js"]
