# ragstone in a container, not as root. The store is the volume /data:
#   docker build -t ragstone .
#   docker run --rm -v "$PWD":/work -v ragstone-data:/data ragstone eval answers.jsonl
#   docker run -d -p 127.0.0.1:8080:8080 -e RAGSTONE_MONITOR_TOKEN -v ragstone-data:/data ragstone monitor serve --host 0.0.0.0 --port 8080
FROM python:3.12-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
# it is this source that is installed; pyproject.toml bounds the rest
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --prefix=/install ".[otel,parquet,postgres,prometheus,text]"

FROM python:3.12-slim
COPY --from=build /install /usr/local
RUN useradd --create-home --uid 1000 ragstone && mkdir /data /work && chown ragstone /data /work
USER 1000
WORKDIR /work
ENV RAGSTONE_STORE=/data/ragstone.db \
    OPENBLAS_NUM_THREADS=1 \
    PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8080
# of `monitor serve` on the port above; other commands end before it is asked
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:8080/healthz', headers={'Authorization': 'Bearer ' + os.environ.get('RAGSTONE_MONITOR_TOKEN', '')}), timeout=5)"]
ENTRYPOINT ["ragstone"]
CMD ["--help"]
