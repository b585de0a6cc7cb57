# docker build -t warplab . && docker run --rm warplab
# Your own files: docker run --rm -v "$PWD:/work" -w /work warplab warplab test .
FROM python:3.13-slim
WORKDIR /warplab
COPY . .
RUN pip install --no-cache-dir .
CMD ["warplab", "run", "samples/vecadd.ptx"]
