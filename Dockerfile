# docker build -t headlight . && docker run -p 127.0.0.1:8501:8501 headlight
FROM python:3.11-slim@sha256:da047cb8f9d1d98e5c070f5300ba9f7274e33b8fc0e5be5ed88740aed1b95ba9

# The build of PyTorch: cpu, or cuda, which is ten times as large.
ARG TORCH=cpu

WORKDIR /headlight
COPY locks locks
RUN pip install --no-cache-dir --require-hashes -r locks/app.txt && \
    pip install --no-cache-dir --require-hashes -r locks/${TORCH}.txt \
    --find-links https://download.pytorch.org/whl/cpu/torch/

COPY .streamlit .streamlit
COPY app.py pyproject.toml ./
COPY headlight headlight
COPY model model
COPY pages pages
COPY viz viz
COPY wings wings

# Nothing is written but the models that visitors may ask for, into this home folder.
RUN useradd --uid 10001 --create-home visitor
USER 10001:10001

EXPOSE 8501
HEALTHCHECK --start-period=60s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://localhost:8501/_stcore/health', timeout=5)"]
CMD ["python", "-m", "headlight", "--server.address", "0.0.0.0", "--port", "8501", "--server.headless", "true"]
